import type { Lease } from '../../store/plumbing/leases.ts';
import { fanOutEvents, replayEvents, takeReplay } from '../../store/webhooks/fan-out.ts';
import { type CommandDeps, commandOfOne } from '../command.ts';
import { commandOfLeader } from '../lease.ts';

export const FAN_OUT_LEASE = 'webhooks';
export const REPLAY_LEASE = 'webhook redeliveries';

/** Creates the deliveries of the next events, about `most` of them. Returns the number of these events, which is 0 if none is left. */
export async function fanOutOnce(deps: CommandDeps, lease: Lease, most?: number): Promise<number> {
  const events = await commandOfOne(deps, (now) => fanOutEvents(lease, { now, most }));
  if (events > 0) deps.world.crashPoint?.('hooks.fanned');
  return events;
}

/** Creates some deliveries of a redelivery request. Returns true if there are more. */
export function replayOnce(deps: CommandDeps, lease: Lease): Promise<boolean> {
  return commandOfLeader(deps, lease, async (tx, now) => {
    const replay = await takeReplay(tx, now);
    if (replay === undefined) return false;
    await replayEvents(tx, replay, now);
    return true;
  });
}
