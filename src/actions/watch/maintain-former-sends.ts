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
  const { network, lease, memory } = watcher;
  const nowMs = deps.world.clock.nowMs();
  if (!hasPassed(memory.formerMaintainedAtMs, nowMs, MAINTAIN_EVERY_MS)) return;
  memory.formerMaintainedAtMs = nowMs;
  await reopenMined(deps, watcher, nowMs);
  const former = (await findFormerRelayers({ ...deps, clock: deps.world.clock })).filter(
    (each) => each.network === network,
  );
  const signers = former.map(({ signer }) => signer);
  if (signers.length === 0) return;
  await broadcastAgain(deps, watcher, signers);
  const before = new Date(nowMs - STRANDED_AFTER_MS);
  const released = await commandOfLeader(deps, lease, (tx) => releaseStranded(tx, { network, signers, before }));
  if (released > 0) deps.log.warn({ network, signers, released }, 'items of former relayers are due again');
  await giveUp(deps, watcher, former, new Date(nowMs - GIVEN_UP_AFTER_MS));
}

/**
 * Broadcasts the stored bytes of these signers, all at once. The round does not wait for the answers, because nothing depends on them, and
 * a slow endpoint would delay all other work of the watcher. Each broadcast ends by its own timeout, before the next page begins.
 */
async function broadcastAgain(deps: WatchDeps, { chain, network }: Watcher, signers: readonly string[]): Promise<void> {
  const page = await listFormerVersions(deps.db.sql, { network, signers, limit: MAX_BROADCASTS });
  if (page.length === 0) return;
  const taken = await command(deps, async (tx, now) => {
    const stored: { hash: string; bytes: string | undefined }[] = [];
    for (const { hash } of page) stored.push({ hash, bytes: await takeBytes(tx, hash, now) });
    return stored;
  });
  for (const { hash, bytes } of taken) {
    if (bytes === undefined) continue;
    chain.sender.broadcast(bytes, { isRepeated: true }).then(
      (outcome) => deps.log.debug({ network, hash, outcome }, 'broadcast for a former relayer'),
      (error: unknown) => {
        if (error instanceof ChainUnavailableError) return;
        deps.log.error({ network, hash, err: error }, 'a broadcast for a former relayer failed');
      },
    );
  }
}

/**
 * Gives up transactions that have no item left to pay, if for a week no two endpoints have reported their slots as used. A given-up
 * transaction is not broadcast any more. A single endpoint can cause this by hiding that a transaction was mined: the transaction is
 * opened again when two endpoints show it. If the key comes back, its relayer finds the slots unused, and opens the transactions
 * again.
 */
async function giveUp(deps: WatchDeps, watcher: Watcher, former: readonly OpenSender[], before: Date): Promise<void> {
  const { network, lease } = watcher;
  const idle = former.filter(({ items, until }) => items === 0 && until <= before);
  const slots = await agreedSlots(
    watcher,
    idle.map(({ signer }) => signer),
  );
  for (const { signer, firstSlot } of idle) {
    const used = slots.get(signer);
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
  for (const [signer, used] of await agreedSlots(watcher, await listGivenUpSigners(deps.db.sql, network))) {
    if (used === undefined) continue;
    const sends = await commandOfLeader(deps, lease, (tx) => reopenGivenUp(tx, { network, signer }, used));
    if (sends > 0) deps.log.warn({ network, signer, sends }, 'transactions that were given up are mined after all');
  }
}

/**
 * The number of used slots of each account, asked for all accounts at once. It is the number that two endpoints confirm, or that the only
 * endpoint reports. Undefined if it is unknown.
 */
async function agreedSlots(
  { chain }: Watcher,
  signers: readonly string[],
): Promise<ReadonlyMap<string, number | undefined>> {
  const asked = signers.map(async (signer) => {
    const { atLeast, soleCount, isAlone } = await askUsedSlots(chain.reader, signer);
    return [signer, atLeast ?? (isAlone ? soleCount : undefined)] as const;
  });
  return new Map(await Promise.all(asked));
}
