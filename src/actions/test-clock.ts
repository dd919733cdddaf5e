import { ApiError } from '../errors.ts';
import { shiftClock, shiftOf, unshifted } from '../runtime/shifted-clock.ts';
import type { World } from '../runtime/world.ts';
import { appendAudit } from '../store/plumbing/audit-log.ts';
import { findClockShift, reachClockShift, requestClockShift } from '../store/plumbing/sandbox-clock.ts';
import { type Answer, type CommandDeps, command, type IdempotentRequest, idempotentCommand } from './command.ts';

export interface TestClock {
  /**
   * Sets the chain's time `aheadMs` ahead of the real time, or leaves it if it is further ahead. False if the chain's time cannot be
   * moved.
   */
  moveChain(aheadMs: number): Promise<boolean>;
  /** Reads the stored shift, so that this node applies it at once. Other nodes notice it within a second. */
  refresh(): Promise<void>;
}

export interface TestClockDeps extends CommandDeps {
  readonly testClock: TestClock;
}

/** The largest advance of one request. */
export const MAX_ADVANCE_MS = 30 * 86_400_000;
/** The largest sum of advances: ten years. Later dates would test the date arithmetic of wallets. */
const MAX_AHEAD_MS = 3_650 * 86_400_000;

export function readTestClock({ clock }: Pick<World, 'clock'>) {
  return { now: new Date(clock.nowMs()).toISOString(), aheadMs: shiftOf(clock) };
}

/**
 * Moves the time of the sandbox forward. The sum is stored first, then the chain is moved, then all nodes apply the shift. After a
 * crash in between `finishAdvance` does the rest, so the chain is never behind the gateway.
 */
export async function advanceTestClock(
  deps: TestClockDeps,
  { byMs, actor }: { readonly byMs: number; readonly actor: string },
  request: IdempotentRequest | undefined,
): Promise<Answer & { isReplayed: boolean }> {
  // Checks first that the chain answers and that its time can be moved. Otherwise nothing is stored.
  const { wantedMs: before } = await findClockShift(deps.db.sql);
  if (!(await deps.testClock.moveChain(before))) throw fixedTime();
  // The request is recorded at the time that it moves to. Otherwise its Idempotency-Key could be weeks old at once, and be pruned.
  const later = { ...deps, world: { ...deps.world, clock: shiftClock(deps.world.clock, () => byMs) } };
  const answer = await idempotentCommand(later, request, async (tx, at) => {
    const aheadMs = await requestClockShift(tx, { byMs, mostMs: MAX_AHEAD_MS });
    if (aheadMs === undefined) throw tooFar();
    await appendAudit(tx, { at, actor, action: 'clock.advanced', subject: 'sandbox', detail: { byMs, aheadMs } });
    const now = new Date(unshifted(deps.world.clock).nowMs() + aheadMs).toISOString();
    return { status: 200, body: { now, aheadMs } };
  });
  await finishAdvance(deps);
  await deps.testClock.refresh();
  return answer;
}

/** Moves the chain and then the gateway to the requested time. Any number of nodes may call it at the same time. */
export async function finishAdvance(deps: TestClockDeps): Promise<boolean> {
  const { wantedMs, aheadMs } = await findClockShift(deps.db.sql);
  if (wantedMs > aheadMs && (await deps.testClock.moveChain(wantedMs))) {
    await command(deps, (tx) => reachClockShift(tx, wantedMs));
  }
  return false;
}

function fixedTime(): ApiError {
  return new ApiError('invalid_state', "The time of this sandbox's chain cannot be moved.");
}

function tooFar(): ApiError {
  return new ApiError('invalid_state', 'The sandbox would be more than ten years ahead.');
}
