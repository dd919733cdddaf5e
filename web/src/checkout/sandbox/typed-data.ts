import { concat, fromHex, keccak, word } from './bytes.ts';

type Fields = readonly { readonly name: string; readonly type: string }[];

export interface TypedData {
  readonly types: Readonly<Record<string, Fields>>;
  readonly primaryType: string;
  readonly domain: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, unknown>>;
}

/** The digest to sign (EIP-712). Arrays are not supported, because our typed data has none. */
export function typedDataDigest({ types, primaryType, domain, message }: TypedData): Uint8Array {
  const domainHash = hashStruct(types, 'EIP712Domain', domain);
  return keccak(concat(Uint8Array.of(0x19, 0x01), domainHash, hashStruct(types, primaryType, message)));
}

function hashStruct(types: TypedData['types'], name: string, value: Readonly<Record<string, unknown>>): Uint8Array {
  const fields = types[name];
  if (fields === undefined) throw new Error(`typed data has no type ${name}`);
  const encoded = fields.map((field) => encode(types, field.type, value[field.name]));
  return keccak(concat(keccak(utf8(typeText(types, name))), ...encoded));
}

/** The encoding of a type in EIP-712: the type itself, then the types that it refers to, sorted by name. */
function typeText(types: TypedData['types'], name: string): string {
  const referred = [...reachable(types, name)].filter((other) => other !== name).sort();
  return [name, ...referred]
    .map((each) => `${each}(${(types[each] ?? []).map((field) => `${field.type} ${field.name}`).join(',')})`)
    .join('');
}

function reachable(types: TypedData['types'], name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name) || types[name] === undefined) return seen;
  seen.add(name);
  for (const { type } of types[name]) reachable(types, type, seen);
  return seen;
}

function encode(types: TypedData['types'], type: string, value: unknown): Uint8Array {
  if (types[type] !== undefined) return hashStruct(types, type, value as Readonly<Record<string, unknown>>);
  if (type === 'string') return keccak(utf8(String(value)));
  if (type === 'bytes') return keccak(fromHex(String(value)));
  if (type === 'bool') return word(value === true ? 1n : 0n);
  if (/^bytes\d+$/.test(type)) return concat(fromHex(String(value)), new Uint8Array(32)).slice(0, 32);
  if (type === 'address' || /^u?int\d*$/.test(type)) return word(BigInt(value as string | number));
  throw new Error(`typed data of type ${type} is not supported`);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
