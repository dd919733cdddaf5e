import { amountText } from '../../../chains/amount-text.ts';
import { weightOf } from '../../../chains/weight.ts';
import { hasLimited, type Outgoing, postponeOutgoing, sumBegun } from '../../../store/money/outgoing.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { lockName } from '../../../store/plumbing/locks.ts';
import type { Alarms } from '../../alarms.ts';
import { type CommandDeps, command } from '../../command.ts';

export interface LimitDeps extends CommandDeps {
  /** The alert for an asset whose hourly limit is reached, so that transfers of it wait. */
  readonly limited: Alarms;
  /** The most whole tokens of one asset that may leave the accounts of a network within an hour. Undefined means no limit. */
  hourlyLimit(network: string): bigint | undefined;
}

const HOUR_MS = 3_600_000;
const CHECK_AGAIN_MS = 60_000;

/**
 * True if the transfer would exceed the hourly limit. The lock serializes transfers of one asset, so the sum is exact while several
 * nodes begin transfers.
 */
export async function exceedsLimit(tx: Tx, deps: LimitDeps, outgoing: Outgoing, now: Date): Promise<boolean> {
  const { id, network, asset, amount } = outgoing;
  const limit = deps.hourlyLimit(network);
  if (limit === undefined) return false;
  await lockName(tx, `outgoing ${asset}`);
  const begun = await sumBegun(tx, { network, asset, id, since: new Date(now.getTime() - HOUR_MS) });
  return weightOf(deps.registry.asset(asset), begun + BigInt(amount)) > limit;
}

/** Postpones a transfer above the limit, so that it does not delay other transfers. Raises the alert. */
export async function waitForLimit(deps: LimitDeps, { id, network, asset, amount }: Outgoing): Promise<void> {
  await command(deps, (tx, now) =>
    postponeOutgoing(tx, { id, until: new Date(now.getTime() + CHECK_AGAIN_MS), isLimited: true }),
  );
  const limit = deps.hourlyLimit(network);
  const message = `Transfers wait, ${id} of ${amountText(deps.registry, asset, amount)} among them: more than ${limit} tokens would leave within an hour. See OUTGOING_PER_HOUR.`;
  await deps.limited.set(asset, message);
}

/** Clears the alert of an asset when none of its transfers waits for the limit any more. */
export async function clearLimit(deps: LimitDeps, { network, asset }: Outgoing): Promise<void> {
  if (deps.hourlyLimit(network) === undefined || (await hasLimited(deps.db.sql, asset))) return;
  await deps.limited.set(asset, undefined);
}
