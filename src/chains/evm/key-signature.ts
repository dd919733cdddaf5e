import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hex } from './rpc-values.ts';
import { secp256k1 } from './secp256k1.ts';

/** The signature of a key in the one form that tokens, Permit2 and this gateway accept. */
export interface KeySignature {
  /** The 64 bytes of r and s. */
  readonly compact: Uint8Array;
  readonly recovery: 0 | 1;
  /** The signature in 65 bytes, with `v` as 27 or 28, as contracts expect. */
  readonly bytes: Hex;
}

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** The suffix of signatures by wallets that are not deployed yet (ERC-6492). */
const ERC_6492_END = '6492'.repeat(16);
/** The maximum length of a signature. Those of wallet contracts may be longer than the 65 bytes of a key. No wallet in use needs more. */
const MAX_SIGNATURE_BYTES = 8_192;

/**
 * Reads the signature of a key. Undefined when the text is no such signature. Only 65 bytes are accepted, because the short form
 * of EIP-2098 would be a second spelling of the same signature. Only a low `s` is accepted, for the same reason and because
 * tokens refuse a high `s`. `v` may be 0 or 1, or 27 or 28.
 */
export function readKeySignature(signature: string): KeySignature | undefined {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) return undefined;
  const text = signature.toLowerCase();
  const v = Number.parseInt(text.slice(130), 16);
  if (v !== 0 && v !== 1 && v !== 27 && v !== 28) return undefined;
  const s = BigInt(`0x${text.slice(66, 130)}`);
  if (s === 0n || s > HALF_ORDER) return undefined;
  const recovery = (v % 27) as 0 | 1;
  return {
    compact: Buffer.from(text.slice(2, 130), 'hex'),
    recovery,
    bytes: `${text.slice(0, 130)}${(27 + recovery).toString(16)}` as Hex,
  };
}

/** True if a wallet contract could accept the signature. ERC-6492 is refused, because it needs a deployment first. */
export function isContractSignature(signature: string): boolean {
  return (
    /^0x([0-9a-f]{2})+$/i.test(signature) &&
    signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES &&
    !signature.toLowerCase().endsWith(ERC_6492_END)
  );
}

/** The address whose key signed the digest, in lower case. Undefined for an impossible signature. */
export function recoverAddress(digest: Uint8Array, { compact, recovery }: KeySignature): string | undefined {
  const publicKey = secp256k1.recoverPublicKeyUncompressed(compact, recovery, digest);
  return typeof publicKey === 'string' ? undefined : addressOf(publicKey);
}

/** The address of a public key, in lower case. */
export function addressOf(uncompressedPublicKey: Uint8Array): Hex {
  const hash = keccak_256(uncompressedPublicKey.subarray(1));
  return `0x${Buffer.from(hash).toString('hex', 12)}`;
}
