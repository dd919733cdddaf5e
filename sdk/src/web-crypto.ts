type WebCrypto = typeof globalThis.crypto;

/** The name of Node's module `crypto`. It is not a literal, because bundlers for workers would try to resolve the module. */
const NODE_CRYPTO: string = ['node', 'crypto'].join(':');

/** Web Crypto, which is not a global in Node 18. */
export async function webCrypto(): Promise<WebCrypto> {
  const known = (globalThis as { crypto?: WebCrypto }).crypto;
  if (known !== undefined) return known;
  return ((await import(NODE_CRYPTO)) as { webcrypto: WebCrypto }).webcrypto;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
