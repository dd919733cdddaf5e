import { idBytes } from '../../domain/ids.ts';
import { type Item, type ItemMethod, isByDeposit, type PayMethod } from '../../domain/item.ts';
import type { PayTerms } from '../network.ts';
import { type CollectorItem, commitmentOf, NATIVE_TOKEN, type NonceSpace, sealedTermsOf } from './collector.ts';
import { isSealed } from './collectors.ts';
import {
  authorizationCommitment,
  type DepositTerms,
  depositAddress,
  depositCommitment,
  sealedDepositTermsOf,
} from './deposits.ts';
import type { Hex } from './rpc-values.ts';

export function collectorItem(item: Item): CollectorItem {
  return { subject: `0x${shownSubject(item)}`, ...orderOf(item) };
}

/**
 * The subject as events of the contract show it: the seal of the item, or in the first releases the bytes of its id. In hex,
 * without 0x.
 */
export function shownSubject({ subject, seal, collector }: Pick<Item, 'subject' | 'seal' | 'collector'>): string {
  if (seal !== undefined) return seal;
  if (isSealed(collector)) throw new TypeError('an item of this contract needs a seal');
  return Buffer.from(idBytes(subject)).toString('hex');
}

function orderOf(item: Unsealed): Omit<CollectorItem, 'subject'> {
  return {
    payer: item.payer as Hex,
    amount: item.amount,
    fee: item.fee,
    recipient: item.recipient as Hex,
    deadline: item.deadlineS,
  };
}

export function depositTerms(item: Item): DepositTerms {
  return { subject: `0x${shownSubject(item)}`, ...unsealedTerms(item) };
}

function unsealedTerms(item: Unsealed): Omit<DepositTerms, 'subject'> {
  const { amount, fee, recipient } = orderOf(item);
  return { token: tokenOf(item.asked ?? item.asset), feeAccount: item.feeAccount as Hex, recipient, amount, fee };
}

/** An item before its subject is known or sealed. */
export type Unsealed = Omit<Item, 'subject' | 'seal'>;

/** The terms that the seal of the item authenticates. An authorization uses the seal of its deposit address. */
export function sealedTerms(item: Unsealed, chainId: number): string {
  if (isByDeposit(item.method)) return sealedDepositTermsOf(unsealedTerms(item));
  const place = { chainId, collector: item.collector as Hex, token: tokenOf(item.asset) };
  return sealedTermsOf({ ...orderOf(item), ...place, ...committedBy(item) });
}

function committedBy({ method, feeAccount }: Unsealed) {
  return { nonceSpace: nonceSpaceOf(method), feeAccount: feeAccount as Hex };
}

/** The contract that records the used nonce of an item. */
export function nonceSpaceOf(method: ItemMethod): NonceSpace {
  if (method === 'native') return 'coin';
  return method === 'permit2' ? 'permit2' : 'token';
}

/** The usual payment method of an asset, as `PayerSide.methodOf` returns it. */
export function usualMethod(pay: PayTerms | undefined): PayMethod {
  return pay?.method ?? 'eip3009-vrs';
}

/**
 * The method of an item whose event shows this nonce space. Both forms of EIP-3009 have the same nonce space, so the asset
 * decides which form it is.
 */
export function methodIn(space: NonceSpace, pay: PayTerms | undefined): PayMethod {
  if (space === 'token') return pay?.method === 'eip3009-bytes' ? 'eip3009-bytes' : 'eip3009-vrs';
  return space === 'coin' ? 'native' : 'permit2';
}

export function depositAddressOf(item: Item): Hex {
  return depositAddress(depositTerms(item), item.collector as Hex);
}

/** The address of the token, in lower case. The zero address stands for the native coin. */
export function tokenOf(asset: string): Hex {
  const [, kind, reference] = /\/(erc20|slip44):(.+)$/.exec(asset) ?? [];
  return (kind === 'erc20' ? reference?.toLowerCase() : NATIVE_TOKEN) as Hex;
}

/** The payer's authorization of an item, without its signature. */
export function authorizationOf({ payer, deadlineS, authorization }: Item) {
  if (authorization === undefined) throw new TypeError('the item has no authorization');
  const { nonce, validAfterS } = authorization;
  return { payer: payer as Hex, validAfter: validAfterS, validBefore: deadlineS, nonce: nonce as Hex };
}

/** The commitment: the hash of the whole item. */
export function itemCommitment(item: Item, { chainId, token }: { readonly chainId: number; readonly token: Hex }): Hex {
  const collector = item.collector as Hex;
  if (!isByDeposit(item.method)) {
    return commitmentOf({ ...collectorItem(item), ...committedBy(item), chainId, collector, token });
  }
  const terms = depositTerms(item);
  if (item.method === 'deposit') return depositCommitment(terms);
  return authorizationCommitment({ ...authorizationOf(item), chainId, deposits: collector, terms });
}
