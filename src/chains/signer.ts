import type { Signable } from './signable.ts';

/** A signer of transactions, and of items of our own accounts. The key is in this process or with an external signer, nowhere else. */
export interface Signer {
  readonly address: string;
  /** Signs a 32-byte digest. Rejects with `SignerRefusedError` when the signer's policy refuses the content. */
  sign(
    digest: Uint8Array,
    content: Signable,
  ): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: 0 | 1 }>;
}
