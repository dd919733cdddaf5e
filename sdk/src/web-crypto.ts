type WebCrypto = typeof globalThis.crypto;

/** The specifier is no literal, so that bundlers for workers do not look for the module. */
const NODE_CRYPTO: string = ['node', 'crypto'].join(':');

/** Web Crypto. Node 18 has it in a module alone. */
export async function webCrypto(): Promise<WebCrypto> {
  const known = (globalThis as { crypto?: WebCrypto }).crypto;
  if (known !== undefined) return known;
  return ((await import(NODE_CRYPTO)) as { webcrypto: WebCrypto }).webcrypto;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
