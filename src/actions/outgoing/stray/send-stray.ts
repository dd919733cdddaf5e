import { findAsset } from '../../../chains/assets.ts';
import type { Chains } from '../../../chains/chains.ts';
import { OPERATOR_FLOAT, strayCoveredEntry } from '../../../domain/books.ts';
import { type Cover, coverOf } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { moveStray, type Stray } from '../../../store/money/strays.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { connectedOf } from '../float/add-float.ts';
import { type Taken, takeFromFloats } from '../float/take-from-floats.ts';
import { orderOutgoing } from '../order-outgoing.ts';
import { noteReturn } from './note-return.ts';
import { refuseSpentCoin } from './refuse-spent-coin.ts';
import { aboutStray, isGasMoney, strayReturnEntries } from './stray-entries.ts';

/**
 * Orders the return of a locked stray that is unclaimed or requested. A late payment is returned whole: floats pay the part
 * that has left the intermediate account, its fee or the merchant's share, as for a refund. If not all of it is available,
 * nothing moves.
 */
export async function sendStray(
  tx: Tx,
  deps: RowKeyDeps & { readonly chains: Chains },
  { stray, recipient, actor }: { readonly stray: Stray; readonly recipient: string; readonly actor: string },
  at: Date,
): Promise<Taken> {
  const { id, network, asset, merchantId, state } = stray;
  const method = findAsset(asset)?.pay?.method;
  if (method === undefined) throw new ApiError('invalid_state', `${asset} is no asset that Till can send.`);
  if (isGasMoney(stray)) await refuseSpentCoin(tx, stray);
  const cover = coverOfStray(stray);
  const taken = await takeFromFloats(tx, { network, asset, subject: id, kind: 'covered', parts: partsOf(cover) }, at);
  if (!taken.ok) return taken;
  if (!(await moveStray(tx, { id, from: state, to: 'returning', at }))) throw new Error('A locked stray was moved.');
  const amount = BigInt(stray.amount);
  // A merchant's float is on the intermediate account, wherever the late payment went.
  const payer = stray.isHeld ? stray.account : connectedOf(deps.chains, asset).intermediateAccount;
  const outgoing = { id, purpose: 'return', network, asset, method, payer, recipient, amount } as const;
  const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], at);
  if (begun.length !== 1) throw new Error('The stray is on its way already.');
  const about = { ...aboutStray(stray), merchantId: cover.merchantId };
  const added = { merchantFloat: cover.merchant, operatorFloat: cover.operator };
  await recordEntries(
    tx,
    [
      ...(cover.merchant + cover.operator > 0n ? [strayCoveredEntry(about, added)] : []),
      ...strayReturnEntries('sent', stray, { units: amount }),
    ],
    at,
  );
  await noteReturn(tx, stray, { status: 'returning', recipient, actor }, at);
  return taken;
}

type StrayCover = Cover & { readonly merchantId: string };

/** The part of a returned stray that floats pay. Nothing for a plain transfer. */
export function coverOfStray(stray: Pick<Stray, 'amount' | 'fee' | 'isHeld' | 'merchantId'>): StrayCover {
  const [amount, fee] = [BigInt(stray.amount), BigInt(stray.fee)];
  const cover = coverOf({ amount, fee, held: stray.isHeld ? amount - fee : 0n });
  return { ...cover, merchantId: stray.merchantId ?? '' };
}

/** The units that each float pays. */
export function partsOf({ merchantId, merchant, operator }: StrayCover) {
  return [
    { owner: merchantId, units: merchant },
    { owner: OPERATOR_FLOAT, units: operator },
  ];
}
