import { idBytes } from '../../domain/ids.ts';
import { type Item, isByDeposit } from '../../domain/item.ts';
import { type CollectorItem, commitmentOf, NATIVE_TOKEN } from './collector.ts';
import { authorizationCommitment, type DepositTerms, depositAddress, depositCommitment } from './deposits.ts';
import type { Hex } from './rpc-values.ts';

/** The item in the form of the Collector's parameters. */
export function collectorItem(item: Item): CollectorItem {
  return {
    paymentId: `0x${Buffer.from(idBytes(item.subject)).toString('hex')}`,
    payer: item.payer as Hex,
    amount: item.amount,
    fee: item.fee,
    recipient: item.recipient as Hex,
    deadline: item.deadlineS,
  };
}

/** The item by deposit in the form of the deposit contract's parameters. */
export function depositTerms(item: Item): DepositTerms {
  const { paymentId, amount, fee, recipient } = collectorItem(item);
  const token = tokenOf(item.asked ?? item.asset);
  return { paymentId, token, feeAccount: item.feeAccount as Hex, recipient, amount, fee };
}

/** The deposit address of an item by deposit. */
export function depositAddressOf(item: Item): Hex {
  return depositAddress(depositTerms(item), item.collector as Hex);
}

/** The address of a token, in lower case; the zero address for a coin. */
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

/** The hash of the whole item. */
export function itemCommitment(item: Item, { chainId, token }: { readonly chainId: number; readonly token: Hex }): Hex {
  const collector = item.collector as Hex;
  if (!isByDeposit(item.method)) {
    return commitmentOf({ ...collectorItem(item), chainId, collector, token, feeAccount: item.feeAccount as Hex });
  }
  const terms = depositTerms(item);
  if (item.method === 'deposit') return depositCommitment(terms);
  return authorizationCommitment({ ...authorizationOf(item), chainId, deposits: collector, terms });
}
