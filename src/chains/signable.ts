import type { Item } from '../domain/item.ts';

/** The content whose digest a signer signs. An external signer can apply its own policy to this content. */
export type Signable = {
  /** A CAIP-2 id. */
  readonly network: string;
  /** The items that the signature authorizes, or that the signed transaction executes. Empty for a transaction that pays nothing. */
  readonly items: readonly Item[];
} & (
  | { readonly kind: 'typed_data'; readonly typedData: unknown }
  /** The unsigned transaction, in the format of its chain. */
  | { readonly kind: 'transaction'; readonly transaction: Readonly<Record<string, unknown>> }
);

/** The error if the signer's own policy refuses the content. The same request may be accepted later. */
export class SignerRefusedError extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(`The external signer refuses: ${reason}`);
    this.name = 'SignerRefusedError';
    this.reason = reason;
  }
}
