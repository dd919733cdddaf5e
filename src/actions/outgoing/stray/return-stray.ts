import { findAsset } from '../../../chains/assets.ts';
import { ChainUnavailableError } from '../../../chains/chain.ts';
import type { Chains } from '../../../chains/chains.ts';
import { OPERATOR_FLOAT, strayCoveredEntry } from '../../../domain/books.ts';
import { type Cover, coverOf } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { findStrays, lockStray, moveStray, type Stray } from '../../../store/money/strays.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { hearTransfers } from '../../evidence.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { connectedOf, refuseLarge } from '../float/add-float.ts';
import { lackText, takeFromFloats } from '../float/take-from-floats.ts';
import { orderOutgoing } from '../order-outgoing.ts';
import { refuseSpentCoin } from './refuse-spent-coin.ts';
import { aboutStray, isGasMoney, strayReturnEntries } from './stray-entries.ts';

export interface ReturnStrayInput {
  readonly id: string;
  /** The sender of the stray, if undefined. */
  readonly to: { readonly chainId: string; readonly address: string } | undefined;
  readonly actor: string;
}

/**
 * Gives a stray back. A late payment is returned whole: floats pay the part that has left the intermediate account, its
 * fee or the merchant's share, as for a refund. If not all of it is available, nothing moves.
 */
export async function returnStray(
  deps: CommandDeps & RowKeyDeps & { chains: Chains },
  input: ReturnStrayInput,
): Promise<Stray> {
  await refuseUnproved(deps, input.id);
  return command(deps, async (tx, now) => {
    const stray = await lockStray(tx, input.id);
    if (stray === undefined) throw new ApiError('payment_not_found', `There is no stray ${input.id.slice(0, 80)}.`);
    if (stray.state !== 'unclaimed') throw refused(`It is not there to be returned: its state is ${stray.state}.`);
    const { id, network, asset, merchantId } = stray;
    const method = findAsset(asset)?.pay?.method;
    if (method === undefined) throw refused(`${asset} is no asset that Till can send.`);
    if (input.to !== undefined && input.to.chainId !== network) throw refused(`It lies on ${network}: so must --to.`);
    const recipient = input.to?.address ?? stray.sender;
    if (recipient === null) throw refused('Nobody can tell who sent it: say with --to where it goes.');
    if (isGasMoney(stray)) await refuseSpentCoin(tx, stray);
    const cover = coverOfStray(stray);
    const parts = [
      { owner: cover.merchantId, units: cover.merchant },
      { owner: OPERATOR_FLOAT, units: cover.operator },
    ];
    const taken = await takeFromFloats(tx, { network, asset, subject: id, kind: 'covered', parts }, now);
    if (!taken.ok) throw refused(`There is too little to return it: ${lackText(asset, taken.missing)}.`);
    await moveStray(tx, { id, from: 'unclaimed', to: 'returning', at: now });
    const amount = BigInt(stray.amount);
    // A merchant's float is on the intermediate account, wherever the late payment went.
    const payer = stray.isHeld ? stray.account : connectedOf(deps.chains, asset).intermediateAccount;
    const outgoing = { id, purpose: 'return', network, asset, method, payer, recipient, amount } as const;
    const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], now);
    if (begun.length !== 1) throw new Error('The stray is on its way already.');
    const about = { ...aboutStray(stray), merchantId: cover.merchantId };
    const added = { merchantFloat: cover.merchant, operatorFloat: cover.operator };
    await recordEntries(
      tx,
      [
        ...(cover.merchant + cover.operator > 0n ? [strayCoveredEntry(about, added)] : []),
        ...strayReturnEntries('sent', stray, { units: amount }),
      ],
      now,
    );
    const detail = { asset, amount: stray.amount, recipient };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'stray.returned', subject: id, detail });
    return { ...stray, state: 'returning' };
  });
}

/**
 * A single endpoint reported the transfer. Before money is returned for it, enough endpoints must confirm it. Coin from
 * a contract call has no transaction to confirm; a late payment was proved when it was recorded.
 */
async function refuseUnproved({ db, chains }: CommandDeps & { chains: Chains }, id: string): Promise<void> {
  const [stray] = await findStrays(db.sql, [id]);
  if (stray?.source !== 'transfer' || stray.transactionHash === null || stray.state !== 'unclaimed') return;
  const { chain } = connectedOf(chains, stray.asset);
  const { transfers, isAlone } = await hearTransfers(chain, stray.transactionHash).catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) throw refused(`The chain could not be asked: ${error.message}.`);
    throw error;
  });
  const { asset, amount, account, logIndex } = stray;
  const shown = transfers.filter(
    (transfer) =>
      transfer.logIndex === logIndex &&
      transfer.asset === asset &&
      transfer.to === account &&
      transfer.amount === BigInt(amount),
  );
  if (shown.length === 0) throw refused('The chain does not show the transfer that it came by.');
  if (isAlone) refuseLarge(chain.network, shown);
}

/** The part of a returned stray that floats pay. Nothing for a plain transfer. */
export function coverOfStray(
  stray: Pick<Stray, 'amount' | 'fee' | 'isHeld' | 'merchantId'>,
): Cover & { readonly merchantId: string } {
  const [amount, fee] = [BigInt(stray.amount), BigInt(stray.fee)];
  const cover = coverOf({ amount, fee, held: stray.isHeld ? amount - fee : 0n });
  return { ...cover, merchantId: stray.merchantId ?? '' };
}

function refused(message: string): ApiError {
  return new ApiError('invalid_state', message);
}
