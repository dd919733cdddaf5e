import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import {
  giveUpSends,
  listFormerVersions,
  listGivenUpSigners,
  type OpenSender,
  releaseStranded,
  reopenGivenUp,
} from '../../store/chain/former-sends.ts';
import { takeBytes } from '../../store/chain/sends.ts';
import { command } from '../command.ts';
import { askUsedSlots } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { findFormerRelayers } from '../relay/former-relayers.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const MAINTAIN_EVERY_MS = 20_000;
/** The items of an unmined transaction are due again after this time. A transaction with the usual gas price is mined long before. */
const STRANDED_AFTER_MS = 3 * 60_000;
/** An unmined transaction is given up after this time. Endpoints forget a pending transaction within hours or a few days. */
const GIVEN_UP_AFTER_MS = 7 * 86_400_000;
/**
 * The interval of checks whether given-up transactions were mined. It is no longer than the interval of the audit, a minute: the audit
 * reports gas that is not booked in two successive runs.
 */
const LOOK_AGAIN_MS = 60_000;
const MAX_BROADCASTS = 64;

/**
 * Maintains the unmined transactions of relayers whose keys are gone. The stored bytes can be broadcast again without the key. If a
 * transaction is still not mined, because nobody can raise its fee or the account is empty, other relayers send its items.
 */
export async function maintainFormerSends(deps: WatchDeps, watcher: Watcher): Promise<void> {
  const { chain, network, lease, memory } = watcher;
  const nowMs = deps.world.clock.nowMs();
  if (!hasPassed(memory.formerMaintainedAtMs, nowMs, MAINTAIN_EVERY_MS)) return;
  memory.formerMaintainedAtMs = nowMs;
  await reopenMined(deps, watcher, nowMs);
  const former = (await findFormerRelayers({ ...deps, clock: deps.world.clock })).filter(
    (each) => each.network === network,
  );
  const signers = former.map(({ signer }) => signer);
  if (signers.length === 0) return;
  for (const { hash } of await listFormerVersions(deps.db.sql, { network, signers, limit: MAX_BROADCASTS })) {
    const bytes = await command(deps, (tx, now) => takeBytes(tx, hash, now));
    if (bytes === undefined) continue;
    try {
      const outcome = await chain.sender.broadcast(bytes, { isRepeated: true });
      deps.log.debug({ network, hash, outcome }, 'broadcast for a former relayer');
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
    }
  }
  const before = new Date(nowMs - STRANDED_AFTER_MS);
  const released = await commandOfLeader(deps, lease, (tx) => releaseStranded(tx, { network, signers, before }));
  if (released > 0) deps.log.warn({ network, signers, released }, 'items of former relayers are due again');
  await giveUp(deps, watcher, former, new Date(nowMs - GIVEN_UP_AFTER_MS));
}

/**
 * Gives up transactions that have no item left to pay, if for a week no two endpoints have reported their slots as used. A given-up
 * transaction is not broadcast any more. A single endpoint can cause this by hiding that a transaction was mined: the transaction is
 * opened again when two endpoints show it. If the key comes back, its relayer finds the slots unused, and opens the transactions
 * again.
 */
async function giveUp(deps: WatchDeps, watcher: Watcher, former: readonly OpenSender[], before: Date): Promise<void> {
  const { network, lease } = watcher;
  for (const { signer, items, firstSlot, until } of former) {
    if (items > 0 || until > before) continue;
    const used = await agreedSlots(watcher, signer);
    // A transaction with a used slot is not given up: it is closed when the transaction that used the slot is final.
    if (used === undefined || used > firstSlot) continue;
    const sends = await commandOfLeader(deps, lease, (tx) => giveUpSends(tx, { network, signer }, { before }));
    if (sends > 0) deps.log.warn({ network, signer, sends }, 'transactions of a former relayer are given up');
  }
}

/**
 * Opens transactions again that were mined after they were given up, so that their cost is booked. Their items are not changed: the
 * events of a transaction count whoever broadcast it, and a commitment is used only once.
 */
async function reopenMined(deps: WatchDeps, watcher: Watcher, nowMs: number): Promise<void> {
  const { network, lease, memory } = watcher;
  if (!hasPassed(memory.givenUpReadAtMs, nowMs, LOOK_AGAIN_MS)) return;
  memory.givenUpReadAtMs = nowMs;
  for (const signer of await listGivenUpSigners(deps.db.sql, network)) {
    const used = await agreedSlots(watcher, signer);
    if (used === undefined) continue;
    const sends = await commandOfLeader(deps, lease, (tx) => reopenGivenUp(tx, { network, signer }, used));
    if (sends > 0) deps.log.warn({ network, signer, sends }, 'transactions that were given up are mined after all');
  }
}

/** The number of used slots of an account that two endpoints confirm, or that the only endpoint reports. Undefined if it is unknown. */
async function agreedSlots({ chain }: Watcher, signer: string): Promise<number | undefined> {
  const { atLeast, soleCount, isAlone } = await askUsedSlots(chain.reader, signer);
  return atLeast ?? (isAlone ? soleCount : undefined);
}
