import {
  isRecord,
  METHODS,
  type Method,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  resolve,
} from './openapi-document.ts';

/** One method of one path, with its title and its anchor on the page. */
export interface Endpoint {
  readonly anchor: string;
  readonly method: Method;
  readonly path: string;
  readonly title: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
}

export interface EndpointGroup {
  readonly anchor: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly endpoints: readonly Endpoint[];
  /** Deprecated endpoints, kept for existing clients. New clients should not use them. */
  readonly deprecated: readonly Endpoint[];
}

const UNTAGGED = 'Other';

/**
 * Every operation once, under its first tag. Tags are in the order of the document, then tags that the document does not list.
 * Within a tag, operations are in the order of `order`, which names them as `post /v1/payments`; others follow in the order of
 * the document.
 */
export function groupEndpoints(document: OpenApiDocument, order: readonly string[] = []): readonly EndpointGroup[] {
  const groups = new Map<string, Endpoint[]>((document.tags ?? []).map((tag) => [tag.name, []]));
  const places = new Map(order.map((name, index) => [name, index]));
  const rank = ({ method, path }: Endpoint) => places.get(`${method} ${path}`) ?? places.size;
  for (const endpoint of listEndpoints(document).toSorted((a, b) => rank(a) - rank(b))) {
    const tag = endpoint.operation.tags?.[0] ?? UNTAGGED;
    groups.set(tag, [...(groups.get(tag) ?? []), endpoint]);
  }
  const anchors = anchorsOf('tag', [...groups.keys()]);
  return [...groups]
    .filter(([, endpoints]) => endpoints.length > 0)
    .map(([name, endpoints]) => ({
      anchor: anchors.get(name) ?? '',
      name,
      description: document.tags?.find((tag) => tag.name === name)?.description,
      endpoints: endpoints.filter(({ operation }) => operation.deprecated !== true),
      deprecated: endpoints.filter(({ operation }) => operation.deprecated === true),
    }));
}

/** Unique anchors in plain ASCII: `schema-payment-list-item`, and `…-2` for a second name with the same letters. */
export function anchorsOf(prefix: string, names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const anchors = new Map<string, string>();
  for (const name of names) {
    const slug = name
      .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .toLowerCase();
    const plain = prefix === '' ? slug : `${prefix}-${slug}`;
    let anchor = plain;
    for (let count = 2; taken.has(anchor); count++) anchor = `${plain}-${count}`;
    taken.add(anchor);
    anchors.set(name, anchor);
  }
  return anchors;
}

function listEndpoints(document: OpenApiDocument): readonly Endpoint[] {
  const found = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method];
      return isRecord(operation)
        ? [{ method, path, operation: operation as Operation, shared: item?.parameters ?? [] }]
        : [];
    }),
  );
  const anchors = anchorsOf(
    '',
    found.map(({ method, path }) => `${method} ${path}`),
  );
  return found.map(({ method, path, operation, shared }) => ({
    anchor: anchors.get(`${method} ${path}`) ?? '',
    method,
    path,
    title: operation.summary ?? `${method.toUpperCase()} ${path}`,
    operation,
    parameters: mergeParameters(document, [...shared, ...(operation.parameters ?? [])]),
  }));
}

/** Merges the parameters of a path and of its operation. A parameter of the operation replaces the path's parameter of the same name. */
function mergeParameters(document: OpenApiDocument, stated: Operation['parameters'] & {}): readonly Parameter[] {
  const merged = new Map<string, Parameter>();
  for (const candidate of stated) {
    const parameter = resolve<Parameter>(document, candidate);
    if (parameter !== undefined) merged.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return [...merged.values()];
}
