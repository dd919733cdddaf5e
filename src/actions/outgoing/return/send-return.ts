import type { Chains } from '../../../chains/chains.ts';
import type { RegistryDeps } from '../../../chains/registry.ts';
import { unexpectedCoveredEntry } from '../../../domain/books.ts';
import type { RefundHold } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { insertSpends } from '../../../store/money/lots.ts';
import { moveUnexpected, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { connectedOf } from '../float/add-float.ts';
import { type Taken, takeFromFloats } from '../float/take-from-floats.ts';
import { orderOutgoing } from '../order/order-outgoing.ts';
import { bookedCover, findReturnCover, partsOf, type ReturnParts } from './cover-return.ts';
import { noteReturn } from './note-return.ts';
import { refuseSpentCoin } from './refuse-spent-coin.ts';
import { aboutUnexpected, isMixedCoin, unexpectedReturnEntries } from './unexpected-entries.ts';

/** The result for a return that has to wait for something other than money in floats. */
interface Held {
  readonly ok: false;
  readonly waitsFor: RefundHold;
}

/**
 * Orders the return of locked unexpected money that is unclaimed or requested. A late payment is returned in full: its lot pays
 * while it is held, and floats pay the part that has left the intermediate account (the fee or the merchant's share), as for a
 * refund. If the full amount is not available, nothing moves.
 */
export async function sendReturn(
  tx: Tx,
  deps: RowKeyDeps & RegistryDeps & { readonly chains: Chains },
  {
    unexpected,
    recipient,
    actor,
  }: { readonly unexpected: UnexpectedMoney; readonly recipient: string; readonly actor: string },
  at: Date,
): Promise<Taken | Held> {
  const { id, network, asset, merchantId, state } = unexpected;
  const method = deps.registry.asset(asset)?.pay?.method;
  if (method === undefined) throw new ApiError('invalid_state', `${asset} is no asset that Till can send.`);
  if (isMixedCoin(unexpected)) await refuseSpentCoin(tx, unexpected);
  const covered = await findReturnCover(tx, unexpected, { mayWait: state === 'requested' });
  if (covered.is === 'waiting') return { ok: false, waitsFor: covered.for };
  const { cover, spends } = covered;
  const payer = payerOfReturn(deps, unexpected, cover);
  const parts = partsOf(cover);
  const taken = await takeFromFloats(tx, { network, asset, subject: id, kind: 'covered', parts, payer }, at);
  if (!taken.ok) return taken;
  if (!(await moveUnexpected(tx, { id, from: state, to: 'returning', at })))
    throw new Error('A locked row of unexpected money was moved.');
  const amount = BigInt(unexpected.amount);
  await insertSpends(tx, spends);
  const outgoing = { id, purpose: 'return', network, asset, method, payer, recipient, amount } as const;
  const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], at);
  if (begun.length !== 1) throw new Error('The return is on its way already.');
  const about = { ...aboutUnexpected(unexpected), merchantId: cover.merchantId };
  const added = bookedCover(unexpected, cover);
  await recordEntries(
    tx,
    [
      ...(added.payable + cover.merchant + cover.operator > 0n ? [unexpectedCoveredEntry(about, added)] : []),
      ...unexpectedReturnEntries('sent', unexpected, { units: amount }),
    ],
    at,
  );
  await noteReturn(tx, unexpected, { status: 'returning', recipient, actor }, at);
  return taken;
}

/**
 * The account that pays the return: the account that holds the money, or else the intermediate account, which holds the merchant's float.
 */
function payerOfReturn(
  { chains }: { readonly chains: Chains },
  { account, asset, lotId, isHeld }: UnexpectedMoney,
  { held }: Pick<ReturnParts, 'held'>,
): string {
  const isThere = held > 0n || (lotId === null && isHeld);
  return isThere ? account : connectedOf(chains, asset).intermediateAccount;
}
