import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concat, keccak, toHex, word } from './bytes.ts';

export interface Key {
  /** The address of the account, in lower case. */
  readonly address: string;
  sign(digest: Uint8Array): { readonly r: bigint; readonly s: bigint; readonly yParity: 0 | 1 };
  /** The 65-byte signature that wallets return. */
  signature(digest: Uint8Array): string;
}

export type SandboxRole = 'payer' | 'merchant';

/**
 * An account of the sandbox chain. Its key is derived from published text, so anybody can use it. Never send real money to the
 * account.
 */
export function sandboxKey(role: SandboxRole): Key {
  return keyOf(keccak(new TextEncoder().encode(`till sandbox test key: ${role}`)));
}

function keyOf(secret: Uint8Array): Key {
  const publicKey = secp256k1.getPublicKey(secret, false);
  const sign = (digest: Uint8Array) => {
    const { r, s, recovery } = secp256k1.sign(digest, secret);
    return { r, s, yParity: recovery === 1 ? 1 : 0 } as const;
  };
  return {
    address: toHex(keccak(publicKey.slice(1)).slice(-20)),
    sign,
    signature: (digest) => {
      const { r, s, yParity } = sign(digest);
      return toHex(concat(word(r), word(s), Uint8Array.of(27 + yParity)));
    },
  };
}
