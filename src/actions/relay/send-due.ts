import { amountText } from '../../chains/amount-text.ts';
import { ChainUnavailableError, SenderShortError } from '../../chains/chain-errors.ts';
import type { Bid } from '../../chains/sender.ts';
import { SignerRefusedError } from '../../chains/signable.ts';
import { SIGNER_REFUSED } from '../../domain/item.ts';
import type { Offer } from '../../domain/offer.ts';
import { chooseBatches, intoBatches, type Places, SEND_MARGIN_MS } from '../../domain/send-plan.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import { type DueItem, findDueItems, postponeItems, takeDueItems } from '../../store/chain/due-items.ts';
import { itemOf, signedItemOf } from '../../store/chain/items.ts';
import { insertSend, type NewVersion } from '../../store/chain/sends.ts';
import { command } from '../command.ts';
import { commandOfLeader } from '../lease.ts';
import { maySend } from '../own-coin.ts';
import { shareFreezes } from '../parties/freeze-heads.ts';
import { raiseForged } from '../row-check.ts';
import { broadcastStored, reportOutOfFunds } from './broadcast-stored.ts';
import { affordableOffer, readBudgets, withinBudgets } from './budgets.ts';
import type { Duty } from './duty.ts';
import { alertSignerRefused, unlessRefused } from './refused-by-signer.ts';
import { IDLE, limitsOf, type RelayDeps, type Relayer, type Rest, retryDelayMs } from './relayer.ts';

/**
 * While a transaction is in flight, new items wait this long for further items, because one transaction for all of them is cheaper than
 * two.
 */
const WINDOW_MS = 80;
const AT_ONCE: Rest = { ms: 0, canBeWoken: false };
/** The maximum number of due items that a round reads: enough for several full transactions. The next round reads the rest. */
const MAX_DUE = 1_000;
/** An item that is due this long may be taken by any relayer, even if it belongs to the share of another relayer. */
const SHARED_AFTER_MS = 3_000;

/** The maximum number of isolated items of one payer that are sent and not final yet, so that a failure is seen before more are sent. */
const ISOLATED_EACH = 2;
/** The pause while a budget is spent, the price is above the cap, or the relayer has no coin. The chain is then asked less often. */
const WAIT: Rest = { ms: 1_000, canBeWoken: false };

export interface Opening {
  readonly duty: Duty;
  readonly nextSlot: number;
  readonly places: Places;
  readonly inFlight: number;
  readonly chainTimeMs: number;
}

/** Sends the due items in as few transactions as possible. */
export async function sendDue(deps: RelayDeps, relayer: Relayer, opening: Opening): Promise<Rest> {
  const { chain, memory } = relayer;
  const due = await readDue(deps, relayer, opening);
  const [first] = due;
  if (first === undefined) return IDLE;
  const nowMs = deps.world.clock.nowMs();
  memory.gatheringSinceMs ??= nowMs;
  // `Math.abs`, because a clock that was set back counts as time that has passed: see `hasPassed`.
  const gatheredMs = Math.abs(nowMs - memory.gatheringSinceMs);
  const isFull = due.length >= chain.sender.maxBatchItems(itemOf(first));
  if (opening.inFlight > 0 && !isFull && gatheredMs < WINDOW_MS) {
    return { ms: WINDOW_MS - gatheredMs, canBeWoken: false };
  }
  memory.gatheringSinceMs = undefined;

  const [offer, budgets] = await Promise.all([affordableOffer(deps, relayer), readBudgets(deps, relayer)]);
  if (offer === undefined || budgets.isSpent) return WAIT;
  const batches = intoBatches(await withinBudgets(deps, due, budgets), (item) =>
    chain.sender.maxBatchItems(itemOf(item)),
  );
  const { places } = opening;
  const chosen = chooseBatches(batches, budgets.isIsolatedSpent ? { ...places, isolatedRoom: 0 } : places);
  try {
    await sendBatches(deps, relayer, { batches: chosen, offer, nextSlot: opening.nextSlot });
  } catch (error) {
    if (!(error instanceof SenderShortError)) throw error;
    await reportOutOfFunds(relayer);
    return WAIT;
  }
  const hasMore = due.length === MAX_DUE || chosen.length < batches.length;
  return hasMore && chosen.length > 0 ? AT_ONCE : IDLE;
}

function readDue(deps: RelayDeps, { id }: Relayer, { duty, chainTimeMs }: Opening): Promise<DueItem[]> {
  const nowMs = deps.world.clock.nowMs();
  return findDueItems(deps.db.sql, {
    ...id,
    isCoinOnly: duty.isCoinOnly,
    now: new Date(nowMs),
    limits: limitsOf(deps, id.network),
    deadlineAfter: new Date(chainTimeMs + SEND_MARGIN_MS),
    share: duty.share,
    sharedBefore: new Date(nowMs - SHARED_AFTER_MS),
    isolatedEach: ISOLATED_EACH,
    limit: MAX_DUE,
  });
}

/** Sends batches in the order of their slots. While one is signed and sent, the next one is simulated. */
async function sendBatches(
  deps: RelayDeps,
  relayer: Relayer,
  { batches, offer, nextSlot }: { batches: readonly (readonly DueItem[])[]; offer: Offer; nextSlot: number },
): Promise<void> {
  const ahead = (batch: readonly DueItem[] = []) => {
    const simulation = simulated(deps, relayer, batch, offer);
    // The error is handled later, when the batch is sent. Until then this handler prevents an unhandled rejection.
    simulation.catch(() => {});
    return simulation;
  };
  const { tracing } = deps.world;
  let slot = nextSlot;
  let simulation = ahead(batches[0]);
  for (let index = 0; index < batches.length; index += 1) {
    const items = await simulation;
    simulation = ahead(batches[index + 1]);
    const batch = { items, slot, offer };
    slot += await (tracing === undefined
      ? sendBatch(deps, relayer, batch)
      : tracedBatch(tracing, deps, relayer, batch));
  }
}

interface BatchToSend extends Bid {
  readonly items: readonly DueItem[];
}

/** Sends a batch within a root span, because a transaction belongs to many payments: the span has a link to the trace of each payment. */
function tracedBatch(tracing: Tracing, deps: RelayDeps, relayer: Relayer, batch: BatchToSend): Promise<number> {
  if (batch.items.length === 0) return Promise.resolve(0);
  const attributes = {
    'till.network': relayer.id.network,
    'till.relayer': relayer.id.signer,
    'till.slot': batch.slot,
    'till.items': batch.items.length,
  };
  const payments = batch.items.map(({ subject }) => subject).filter((subject) => subject.startsWith('pay_'));
  return tracing.span('send', { kind: 'producer', place: 'root', attributes, payments }, () =>
    sendBatch(deps, relayer, batch),
  );
}

/**
 * Signs, stores and broadcasts a batch. Returns the number of slots taken. It is more than one if the signer refused the batch and
 * its parts were sent.
 */
async function sendBatch(deps: RelayDeps, relayer: Relayer, { items, slot, offer }: BatchToSend): Promise<number> {
  const { chain, signer, id } = relayer;
  if (items.length === 0) return 0;
  deps.world.crashPoint?.('relay.simulated');
  const signed = await unlessRefused(chain.sender.signBatch(signer, items.map(signedItemOf), { slot, offer }));
  if (signed instanceof SignerRefusedError) return sendParts(deps, relayer, { items, slot, offer }, signed);
  // A crash here loses only a signature: no slot is taken, and the items are still due.
  deps.world.crashPoint?.('relay.signed');
  const isStored = await store(deps, relayer, items, { ...signed, slot, offer });
  if (!isStored) return 0;
  // A crash here leaves stored bytes that were never broadcast. The next holder of the lease broadcasts them.
  deps.world.crashPoint?.('relay.stored');
  deps.meters.signed(id.network, 'first');
  deps.meters.items(id.network, 'sent', items.length);
  await broadcastStored(deps, relayer, { slot, hash: signed.hash, isRepeated: false });
  return 1;
}

/** Tries the halves of a batch that the signer refuses, so that a refused item delays no other. */
async function sendParts(
  deps: RelayDeps,
  relayer: Relayer,
  { items, slot, offer }: BatchToSend,
  { reason }: SignerRefusedError,
): Promise<number> {
  const [only, ...more] = items;
  if (only === undefined) return 0;
  if (more.length > 0) {
    const middle = Math.ceil(items.length / 2);
    const first = await sendBatch(deps, relayer, { items: items.slice(0, middle), slot, offer });
    return first + (await sendBatch(deps, relayer, { items: items.slice(middle), slot: slot + first, offer }));
  }
  const { subject, key, asset, amount, recipient, attempts } = only;
  await alertSignerRefused(
    deps,
    relayer,
    `${subject} (${amountText(deps.registry, asset, amount)} to ${recipient})`,
    reason,
  );
  const retryAt = new Date(deps.world.clock.nowMs() + retryDelayMs(deps.world, attempts));
  await command(deps, (tx) => postponeItems(tx, [{ key, refusal: SIGNER_REFUSED, retryAt }]));
  deps.meters.items(relayer.id.network, 'postponed', 1);
  return 0;
}

/** Thrown if one of the items is no longer due, because another relayer has taken it or a refusal has postponed it. */
class ItemsTakenError extends Error {}

/** Stores slot, bytes and items in one database transaction. Returns false if one of the items is no longer due. */
async function store(
  deps: RelayDeps,
  { id, lease }: Relayer,
  items: readonly DueItem[],
  version: NewVersion,
): Promise<boolean> {
  const keys = items.map(({ key }) => key);
  try {
    await commandOfLeader(deps, lease, async (tx, at) => {
      await shareFreezes(tx, deps);
      if (!(await takeDueItems(tx, keys))) throw new ItemsTakenError();
      const lane = items.some(({ isIsolated }) => isIsolated) ? 'isolated' : 'main';
      await insertSend(tx, id, { ...version, kind: 'batch', lane, fencing: lease.fencing, keys, at });
    });
    return true;
  } catch (error) {
    if (error instanceof ItemsTakenError) return false;
    throw error;
  }
}

/**
 * The items of a batch that would be paid now, according to a simulation. The other items are postponed, because the reason of their
 * refusal may pass. A simulation never ends an item: only the chain can prove that it can never be paid.
 */
async function simulated(
  deps: RelayDeps,
  relayer: Relayer,
  batch: readonly DueItem[],
  offer: Offer,
): Promise<readonly DueItem[]> {
  if (batch.length === 0) return [];
  const reasons = await certainRefusals(deps, relayer, batch, offer);
  const refused = batch.flatMap((item, index) => {
    const refusal = reasons[index];
    if (refusal === undefined) return [];
    const retryAtMs = deps.world.clock.nowMs() + retryDelayMs(deps.world, item.attempts);
    return [{ key: item.key, refusal, retryAt: new Date(retryAtMs) }];
  });
  if (refused.length > 0) {
    await command(deps, (tx) => postponeItems(tx, refused));
    deps.meters.items(relayer.id.network, 'postponed', refused.length);
    deps.log.info({ ...relayer.id, refused: refused.slice(0, 10), count: refused.length }, 'items postponed');
  }
  return batch.filter((_, index) => reasons[index] === undefined);
}

/**
 * The refusals in the simulation of a batch. The first refusal of an item may come from one endpoint: the cause may be the newest
 * block, which a second endpoint may not have yet. An item that was refused before is simulated at two endpoints. Otherwise an
 * endpoint that refuses everything would stop the network.
 */
async function certainRefusals(
  deps: RelayDeps,
  relayer: Relayer,
  batch: readonly DueItem[],
  offer: Offer,
): Promise<readonly (string | undefined)[]> {
  const reasons = await refusals(deps, relayer, batch, { offer, isDoubted: false }).catch(unlessShort);
  if (reasons?.some((reason, index) => reason !== undefined && (batch[index]?.attempts ?? 0) > 0) === false) {
    return reasons;
  }
  const doubted = await refusals(deps, relayer, batch, { offer, isDoubted: true }).catch((error) => {
    // If no second endpoint answers, the first answer counts: a refusal only postpones its item, and the other items are sent.
    if (reasons === undefined || !(error instanceof ChainUnavailableError)) throw error;
    return reasons;
  });
  return batch.map(({ attempts }, index) =>
    reasons === undefined || (reasons[index] !== undefined && attempts > 0) ? doubted[index] : reasons[index],
  );
}

function unlessShort(error: unknown): undefined {
  if (!(error instanceof SenderShortError)) throw error;
}

interface Trial {
  readonly offer: Offer;
  readonly isDoubted: boolean;
}

/** The refusal of each item; undefined if it would be paid. An item that makes the simulation fail is found by bisection. */
async function refusals(
  deps: RelayDeps,
  relayer: Relayer,
  batch: readonly DueItem[],
  trial: Trial,
): Promise<readonly (string | undefined)[]> {
  const [only] = batch;
  // Checking the first item suffices, because native coin is always sent alone.
  if (only !== undefined && !maySend(deps, relayer.chain.payerSide, signedItemOf(only))) {
    const message = `${amountText(deps.registry, only.asset, only.amount)} of ${only.payer} is not sent to ${only.recipient}: the gateway did not order it. Find out who has written to the database.`;
    await raiseForged(deps, { name: 'outgoing_refused', subject: only.subject, message });
    return batch.map(() => 'unknown');
  }
  try {
    const { offer, isDoubted } = trial;
    const as = { from: relayer.signer.address, offer };
    const outcomes = await relayer.chain.sender.simulate(batch.map(signedItemOf), { as, isDoubted });
    return batch.map((_, index) => {
      const outcome = outcomes[index];
      return outcome?.is === 'paid' ? undefined : (outcome?.reason ?? 'unknown');
    });
  } catch (error) {
    if (error instanceof ChainUnavailableError || error instanceof SenderShortError) throw error;
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      const halves = [batch.slice(0, middle), batch.slice(middle)];
      const [left = [], right = []] = await Promise.all(halves.map((half) => refusals(deps, relayer, half, trial)));
      return [...left, ...right];
    }
    deps.log.error({ ...relayer.id, commitment: only?.commitment, err: error }, 'an item cannot be simulated');
    return ['unknown'];
  }
}
