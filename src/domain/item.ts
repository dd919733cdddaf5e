/**
 * A transfer as the chain carries it out: pull the amount from the payer, pay the recipient, keep the fee. The payer signs a
 * commitment to all these terms, so the item can only be carried out exactly like this.
 */
export interface Item {
  /** A CAIP-2 id. */
  readonly network: string;
  /** The address of the contract that carries the item out. */
  readonly collector: string;
  /** A CAIP-19 id. */
  readonly asset: string;
  /** The asset that the deposit address was made for, if a sweep takes another asset from it. CAIP-19, of any network. */
  readonly asked?: string;
  readonly method: ItemMethod;
  /** The id of a payment, payout, refund or return. */
  readonly subject: string;
  /**
   * The seal: the 32 bytes that the chain shows in place of the id, in hex without 0x (see `domain/seal.ts`). Missing from items
   * of the first releases of the contracts, which show the 16 bytes of the id itself.
   */
  readonly seal?: string;
  /** The payment whose money a payout pays out. External signers get this id, because the id of a payout does not contain it. */
  readonly paymentId?: string;
  /** Addresses are in the canonical spelling of their network. */
  readonly payer: string;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly amount: bigint;
  readonly fee: bigint;
  /** The deadline in Unix seconds. After this time the chain refuses the item. */
  readonly deadlineS: number;
  /** The other fields that the payer signs, if the item is paid by the payer's own authorization. */
  readonly authorization?: Authorization;
}

/** The fields of a payer's own authorization (EIP-3009). Amount and deadline are those of the item. */
export interface Authorization {
  /** The nonce: 32 bytes in hex, chosen by the payer. */
  readonly nonce: string;
  /** The time from which on the authorization is valid, in Unix seconds. */
  readonly validAfterS: number;
}

/**
 * The ways to take an asset from a payer: by a signature that the Collector presents, or by the payer's own transaction on chain
 * (`native`).
 */
export type PayMethod = 'eip3009-vrs' | 'eip3009-bytes' | 'permit2' | 'native';

/**
 * The ways to pay an item. `deposit` is any transfer to a deposit address. The payer of such an item is the deposit address
 * itself, and its `collector` is the contract that sweeps it.
 */
export type ItemMethod = PayMethod | 'deposit' | AuthorizedMethod;

/**
 * Two ways to pay by an authorization whose payee is a deposit address. One transaction presents the authorization to the token
 * and sweeps the address.
 */
export type AuthorizedMethod = 'deposit-vrs' | 'deposit-bytes';

export function isAuthorized(method: ItemMethod): method is AuthorizedMethod {
  return method === 'deposit-vrs' || method === 'deposit-bytes';
}

export function isByDeposit(method: ItemMethod): method is 'deposit' | AuthorizedMethod {
  return method === 'deposit' || isAuthorized(method);
}

declare const isItemKey: unique symbol;

/**
 * The key of a row of `items`. It differs from the commitment: a deposit address has the same commitment on two networks, but
 * each network has a separate item. Only `itemKeyOf` makes a key, so that the compiler refuses the commitment of an event where
 * the key of a row is needed.
 */
export type ItemKey = string & { readonly [isItemKey]: true };

/**
 * The key of an item's row. It is the commitment, or `commitment@network` if an item of another network already has that
 * commitment as its key.
 */
export function itemKeyOf(
  { network, commitment }: { readonly network: string; readonly commitment: string },
  { isTaken }: { readonly isTaken: boolean } = { isTaken: false },
): ItemKey {
  return (isTaken ? `${commitment}@${network}` : commitment) as ItemKey;
}

/** All keys that items with these commitments can have on the network. The row with such a key may belong to an item of another network. */
export function possibleKeys(network: string, commitments: readonly string[]): ItemKey[] {
  return commitments.flatMap((commitment) => [
    itemKeyOf({ network, commitment }),
    itemKeyOf({ network, commitment }, { isTaken: true }),
  ]);
}

/** An item with its payer's signature. */
export interface SignedItem {
  readonly item: Item;
  readonly commitment: string;
  readonly signature: string;
  /**
   * True if the payer's account has code. Such an account can make its transfer fail at will, so its items are isolated in
   * transactions of their own.
   */
  readonly hasCode: boolean;
}

/**
 * The item of a batch that pays in native coin. The payer sends it as a separate transaction, so the batch has no other items.
 * Undefined for other batches.
 */
export function ownPayment(batch: readonly SignedItem[]): Item | undefined {
  const [only, ...more] = batch;
  return only?.item.method === 'native' && more.length === 0 ? only.item : undefined;
}

/** The name that is stored for the payer of a refund, if the merchant's own account signs the refund. */
export const MERCHANT = 'Merchant';

/** The stored reason why an item waits, if the signer of its transaction refuses the item. */
export const SIGNER_REFUSED = 'signer_refused';
