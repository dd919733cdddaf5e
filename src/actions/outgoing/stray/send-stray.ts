import { findAsset } from '../../../chains/assets.ts';
import type { Chains } from '../../../chains/chains.ts';
import { strayCoveredEntry } from '../../../domain/books.ts';
import type { RefundHold } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { insertSpends } from '../../../store/money/lots.ts';
import { moveStray, type Stray } from '../../../store/money/strays.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { connectedOf } from '../float/add-float.ts';
import { type Taken, takeFromFloats } from '../float/take-from-floats.ts';
import { orderOutgoing } from '../order-outgoing.ts';
import { bookedCover, findReturnCover, partsOf, type StrayCover } from './cover-stray.ts';
import { noteReturn } from './note-return.ts';
import { refuseSpentCoin } from './refuse-spent-coin.ts';
import { aboutStray, isGasMoney, strayReturnEntries } from './stray-entries.ts';

/** A return that waits for something other than funds. */
interface Held {
  readonly ok: false;
  readonly waitsFor: RefundHold;
}

/**
 * Orders the return of locked unexpected money that is unclaimed or requested. A late payment is returned in full: its lot pays
 * while it is held, and floats pay the part that has left the intermediate account (the fee or the merchant's share), as for a
 * refund. If the full amount is not available, nothing moves.
 */
export async function sendStray(
  tx: Tx,
  deps: RowKeyDeps & { readonly chains: Chains },
  { stray, recipient, actor }: { readonly stray: Stray; readonly recipient: string; readonly actor: string },
  at: Date,
): Promise<Taken | Held> {
  const { id, network, asset, merchantId, state } = stray;
  const method = findAsset(asset)?.pay?.method;
  if (method === undefined) throw new ApiError('invalid_state', `${asset} is no asset that Till can send.`);
  if (isGasMoney(stray)) await refuseSpentCoin(tx, stray);
  const covered = await findReturnCover(tx, stray);
  if (covered.is === 'waiting') return { ok: false, waitsFor: covered.for };
  const { cover, spends } = covered;
  const payer = payerOfReturn(deps, stray, cover);
  const parts = partsOf(cover);
  const taken = await takeFromFloats(tx, { network, asset, subject: id, kind: 'covered', parts, payer }, at);
  if (!taken.ok) return taken;
  if (!(await moveStray(tx, { id, from: state, to: 'returning', at }))) throw new Error('A locked stray was moved.');
  const amount = BigInt(stray.amount);
  await insertSpends(tx, spends);
  const outgoing = { id, purpose: 'return', network, asset, method, payer, recipient, amount } as const;
  const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], at);
  if (begun.length !== 1) throw new Error('The stray is on its way already.');
  const about = { ...aboutStray(stray), merchantId: cover.merchantId };
  const added = bookedCover(stray, cover);
  await recordEntries(
    tx,
    [
      ...(added.payable + cover.merchant + cover.operator > 0n ? [strayCoveredEntry(about, added)] : []),
      ...strayReturnEntries('sent', stray, { units: amount }),
    ],
    at,
  );
  await noteReturn(tx, stray, { status: 'returning', recipient, actor }, at);
  return taken;
}

/** The merchant's float is on the intermediate account, even if the late payment went to another one. */
function payerOfReturn(
  { chains }: { readonly chains: Chains },
  { account, asset, lotId, isHeld }: Stray,
  { held }: Pick<StrayCover, 'held'>,
): string {
  const isThere = held > 0n || (lotId === null && isHeld);
  return isThere ? account : connectedOf(chains, asset).intermediateAccount;
}
