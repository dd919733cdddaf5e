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
/** A transaction with the usual price of gas is mined long before this. After it, the items of an unmined one are due again. */
const STRANDED_AFTER_MS = 3 * 60_000;
/** Endpoints forget a transaction that waits within hours or a few days. */
const GIVEN_UP_AFTER_MS = 7 * 86_400_000;
/** The audit reports gas that is not booked when it finds it twice, a minute apart. */
const LOOK_AGAIN_MS = 60_000;
const MAX_BROADCASTS = 64;

/**
 * Tends transactions of relayers whose keys are gone. Their stored bytes can be broadcast again without the key. If they are still
 * not mined, because nobody can raise their fee or the account is empty, other relayers send their items.
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
 * Gives up transactions without an item that they could still pay, if no two endpoints have seen their slots used for a week. They
 * are not broadcast any more. One of two endpoints can cause this by hiding that they were mined: they are opened again when both show
 * it. If the key comes back, its relayer finds their slots unused, and opens them again.
 */
async function giveUp(deps: WatchDeps, watcher: Watcher, former: readonly OpenSender[], before: Date): Promise<void> {
  const { network, lease } = watcher;
  for (const { signer, items, firstSlot, until } of former) {
    if (items > 0 || until > before) continue;
    const used = await agreedSlots(watcher, signer);
    // A used slot ends with its transaction, when that is final.
    if (used === undefined || used > firstSlot) continue;
    const sends = await commandOfLeader(deps, lease, (tx) => giveUpSends(tx, { network, signer }, { before }));
    if (sends > 0) deps.log.warn({ network, signer, sends }, 'transactions of a former relayer are given up');
  }
}

/**
 * Opens transactions again that were mined after they were given up, so that their cost is booked. Their items need no care: the
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

/** The number of used slots that two endpoints confirm, or the only endpoint. Undefined if it is unknown. */
async function agreedSlots({ chain }: Watcher, signer: string): Promise<number | undefined> {
  const { atLeast, soleCount, isAlone } = await askUsedSlots(chain.reader, signer);
  return atLeast ?? (isAlone ? soleCount : undefined);
}
