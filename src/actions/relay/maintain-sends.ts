import { blockTimeOf } from '../../chains/finality.ts';
import type { Bid, SignedTransaction } from '../../chains/sender.ts';
import { SignerRefusedError } from '../../chains/signable.ts';
import { slotWord } from '../../domain/addresses/families.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import type { Offer } from '../../domain/offer.ts';
import { type InFlight, planSends, type SendStep } from '../../domain/send-plan.ts';
import { signedItemOf } from '../../store/chain/items.ts';
import { findLiveItems, insertSend, insertVersion, type OpenSend } from '../../store/chain/sends.ts';
import { commandOfLeader } from '../lease.ts';
import { maySend } from '../own-coin.ts';
import { broadcastStored } from './broadcast-stored.ts';
import { readBudgets } from './budgets.ts';
import { alertSignerRefused, unlessRefused } from './refused-by-signer.ts';
import type { Journal, RelayDeps, Relayer } from './relayer.ts';

/** A transaction is broadcast again after this many blocks that do not contain it. */
const REBROADCAST_BLOCKS = 3;
/** The offer of a transaction is raised after this many blocks that do not contain it. */
const BUMP_BLOCKS = 6;
const MIN_REBROADCAST_MS = 1_000;
const MIN_BUMP_MS = 10_000;
const ASK_SIGNER_AGAIN_MS = 10_000;

/** Maintains the transactions in flight, in the order of their slots: broadcasts them again, raises offers, and fills gaps. */
export async function maintainSends(
  deps: RelayDeps,
  relayer: Relayer,
  { open, nextSlot, usedSlots, mayTake }: Journal,
): Promise<void> {
  const { chain, id } = relayer;
  forgetUsed(relayer, usedSlots);
  const nowMs = deps.world.clock.nowMs();
  const inFlight = open.map((send) => inFlightOf(send, relayer, nowMs));
  const blockMs = blockTimeOf(chain.network);
  const cap = deps.settings.feeCap?.(id.network);
  const facts = {
    inFlight,
    usedSlots,
    nextSlot,
    rebroadcastAfterMs: Math.max(MIN_REBROADCAST_MS, REBROADCAST_BLOCKS * blockMs),
    bumpAfterMs: Math.max(MIN_BUMP_MS, BUMP_BLOCKS * blockMs),
  };
  // The chain is asked for its price only if a send might need it.
  const isCalm =
    inFlight.length === nextSlot - usedSlots &&
    inFlight.every((send) => !send.isOutbid && !send.isPruned && send.signedAgoMs < facts.bumpAfterMs);
  const current = isCalm ? NO_OFFER : await chain.sender.suggestOffer();
  const hashes = new Map(open.map(({ slot, hash }) => [slot, hash]));
  const steps = planSends({ ...facts, raise: (offer) => chain.sender.raiseOffer(offer, { current, cap }) });
  const maySign = steps.some(isAtCurrentOffer) && (await isAffordable(deps, relayer, current));
  for (const step of steps) {
    if (isAtCurrentOffer(step) && !maySign) continue;
    if (step.do === 'fill' && !mayTake) continue;
    const hash = step.do === 'rebroadcast' ? hashes.get(step.slot) : await signStep(deps, relayer, step, current);
    if (hash !== undefined) await broadcastStored(deps, relayer, { slot: step.slot, hash, isRepeated: true });
  }
}

/** The offer that is used while no transaction needs a current one. */
const NO_OFFER: Offer = { price: 0n, terms: {} };

/** True if the step signs a new transaction instead of raising the offer of one that can be broadcast. */
function isAtCurrentOffer(step: SendStep<Offer>): boolean {
  return step.do === 'fill' || step.do === 'resign';
}

/** True if the price is below the cap and the budget is not spent. Both limits apply to all new transactions. */
async function isAffordable(deps: RelayDeps, relayer: Relayer, { price }: Offer): Promise<boolean> {
  const cap = deps.settings.feeCap?.(relayer.id.network);
  return (cap === undefined || price <= cap) && !(await readBudgets(deps, relayer)).isSpent;
}

function inFlightOf(send: OpenSend, { memory }: Relayer, nowMs: number): InFlight<Offer> {
  const broadcastAtMs = memory.broadcastAtMs.get(send.slot);
  return {
    slot: send.slot,
    offer: send.offer,
    // Another node, whose clock was ahead, may have signed the transaction. So a time in the future counts as old.
    signedAgoMs: Math.abs(nowMs - send.signedAt.getTime()),
    broadcastAgoMs: broadcastAtMs === undefined ? undefined : Math.abs(nowMs - broadcastAtMs),
    isOutbid: memory.outbid.has(send.slot),
    isPruned: send.isPruned,
  };
}

/** Signs and stores the transaction, then returns its hash. Undefined if the signer refuses: the stored bytes stay in force. */
async function signStep(
  deps: RelayDeps,
  relayer: Relayer,
  step: Exclude<SendStep<Offer>, { do: 'rebroadcast' }>,
  current: Offer,
): Promise<string | undefined> {
  const { id, lease, memory } = relayer;
  const { slot } = step;
  const nowMs = deps.world.clock.nowMs();
  const refusedAtMs = memory.refusedAtMs.get(slot);
  if (refusedAtMs !== undefined && !hasPassed(refusedAtMs, nowMs, ASK_SIGNER_AGAIN_MS)) return undefined;
  const bid = { slot, offer: step.do === 'bump' ? step.offer : current };
  const signing = step.do === 'fill' ? signNothing(relayer, bid) : resign(deps, relayer, bid);
  const signed = await unlessRefused(signing);
  if (signed instanceof SignerRefusedError) {
    memory.refusedAtMs.set(slot, nowMs);
    await alertSignerRefused(deps, relayer, `${slotWord(id.network)} ${slot}`, signed.reason);
    return undefined;
  }
  const version = { ...signed, ...bid };
  await commandOfLeader(deps, lease, (tx, at) =>
    step.do === 'fill'
      ? insertSend(tx, id, { ...version, kind: 'nothing', fencing: lease.fencing, keys: [], at })
      : insertVersion(tx, id, version, at),
  );
  memory.outbid.delete(slot);
  memory.refusedAtMs.delete(slot);
  deps.meters.signed(id.network, step.do);
  deps.log.info({ ...id, slot, hash: signed.hash, why: step.do }, 'signed again for a pending slot');
  return signed.hash;
}

/** Signs the unpaid items of the slot again. If none is left, an empty transfer uses the slot. */
async function resign(deps: RelayDeps, relayer: Relayer, bid: Bid): Promise<SignedTransaction> {
  const items = await findLiveItems(deps.db.sql, relayer.id, bid.slot);
  const batch = items
    .flatMap(({ signature, ...stored }) => (signature === null ? [] : [signedItemOf({ ...stored, signature })]))
    .filter((item) => maySend(deps, relayer.chain.payerSide, item));
  if (batch.length === 0) return signNothing(relayer, bid);
  return relayer.chain.sender.signBatch(relayer.signer, batch, bid);
}

function signNothing({ chain, signer }: Relayer, bid: Bid): Promise<SignedTransaction> {
  return chain.sender.signNothing(signer, bid);
}

function forgetUsed({ memory }: Relayer, usedSlots: number): void {
  for (const slot of memory.refusedAtMs.keys()) if (slot < usedSlots) memory.refusedAtMs.delete(slot);
  for (const slot of memory.broadcastAtMs.keys()) if (slot < usedSlots) memory.broadcastAtMs.delete(slot);
  for (const slot of memory.outbid) if (slot < usedSlots) memory.outbid.delete(slot);
}
