/**
 * One payment as the chain carries it out: pull the amount from the payer, pay the recipient, keep the fee. The payer's
 * signature covers all of it by way of its commitment, so it can only be carried out exactly like this.
 */
export interface Item {
  /** CAIP-2. */
  readonly network: string;
  /** The address of the contract that carries the item out. */
  readonly collector: string;
  /** CAIP-19. */
  readonly asset: string;
  /** The asset that the deposit address was made for, if a sweep takes another one from it. CAIP-19, of any network. */
  readonly asked?: string;
  readonly method: ItemMethod;
  /** The id of a payment, payout, refund or return. */
  readonly subject: string;
  /**
   * The 32 bytes that the chain shows in place of the id, in hex without 0x: `domain/seal.ts`. Missing from items of the
   * first releases of the contracts, which show the 16 bytes of the id itself.
   */
  readonly seal?: string;
  /** Of a payout that is about to be signed: its id does not show its payment. External signers are told. */
  readonly paymentId?: string;
  /** Addresses are in the canonical spelling of their network. */
  readonly payer: string;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly amount: bigint;
  readonly fee: bigint;
  /** Unix seconds; the chain refuses the item from then on. */
  readonly deadlineS: number;
  /** The rest of what the payer of an item by authorization signs. */
  readonly authorization?: Authorization;
}

/** The fields of a payer's own authorization (EIP-3009). Its amount and its end are those of the item. */
export interface Authorization {
  /** 32 bytes in hex, which the payer has chosen. */
  readonly nonce: string;
  /** Unix seconds. */
  readonly validAfterS: number;
}

/** How an asset can be pulled: by a signature that the Collector presents, or by the payer's own transaction. */
export type PayMethod = 'eip3009-vrs' | 'eip3009-bytes' | 'permit2' | 'native';

/**
 * An item can also be paid by any transfer to a deposit address. Its payer is the deposit address itself, and its
 * `collector` is the contract that sweeps it.
 */
export type ItemMethod = PayMethod | 'deposit' | AuthorizedMethod;

/**
 * An item can also be paid by an authorization whose payee is a deposit address. Its transaction presents the authorization
 * to the token and sweeps the address.
 */
export type AuthorizedMethod = 'deposit-vrs' | 'deposit-bytes';

export function isAuthorized(method: ItemMethod): method is AuthorizedMethod {
  return method === 'deposit-vrs' || method === 'deposit-bytes';
}

/** True for items whose money passes through a deposit address. */
export function isByDeposit(method: ItemMethod): method is 'deposit' | AuthorizedMethod {
  return method === 'deposit' || isAuthorized(method);
}

declare const isItemKey: unique symbol;

/**
 * The key of a row of `items`. It is no commitment: a deposit address can be the same on two networks, and so is its
 * commitment, but each network has an item of its own. Only `itemKeyOf` makes one, so that the compiler refuses the hash of
 * an event where a row is asked for.
 */
export type ItemKey = string & { readonly [isItemKey]: true };

/** The key is the commitment, or `commitment@network` if an item of another network has taken that. */
export function itemKeyOf(
  { network, commitment }: { readonly network: string; readonly commitment: string },
  { isTaken }: { readonly isTaken: boolean } = { isTaken: false },
): ItemKey {
  return (isTaken ? `${commitment}@${network}` : commitment) as ItemKey;
}

/** All keys that items of these commitments can have on the network. The row of such a key may be one of another network. */
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
  /** Accounts with code can behave as they like, so their items travel in transactions of their own. */
  readonly hasCode: boolean;
}

/** The name of the payer of a refund that the merchant's own account signs. */
export const MERCHANT = 'Merchant';

/** The reason of an item that waits because the signer of its transaction refuses it. */
export const SIGNER_REFUSED = 'signer_refused';
