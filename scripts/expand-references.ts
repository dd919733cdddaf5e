type Json = Readonly<Record<string, unknown>>;

/**
 * The description of the API with each reference replaced by its target, for programs that walk through schemas. No
 * component contains itself. A choice between a component and null is one schema again.
 */
export function expandReferences<Document>(document: Document): Document {
  const expand = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(expand);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref, ...rest } = part as Json;
    const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, expand(value)]));
    if (typeof $ref === 'string') return { ...(expand(targetOf(document as Json, $ref)) as Json), ...own };
    return withNull(own);
  };
  return expand(document) as Document;
}

function targetOf(document: Json, reference: string): unknown {
  const target = reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
  if (target === undefined) throw new Error(`There is no ${reference}.`);
  return target;
}

function withNull({ anyOf, ...rest }: Json): Json {
  if (!Array.isArray(anyOf)) return rest;
  const [only, none, ...others] = anyOf as Json[];
  if (typeof only?.type !== 'string' || none?.type !== 'null' || others.length > 0) return { ...rest, anyOf };
  const values = Array.isArray(only.enum) && { enum: [...only.enum, null] };
  return { ...only, ...values, type: [only.type, 'null'], ...rest };
}
