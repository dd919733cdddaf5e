import type { Fees, SignedTransaction } from '../../chains/sender.ts';
import { SignerRefusedError } from '../../chains/signable.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import { type InFlight, planSends, type SendStep } from '../../domain/send-plan.ts';
import { signedItemOf } from '../../store/chain/items.ts';
import { findLiveItems, insertSend, insertVersion, type OpenSend } from '../../store/chain/sends.ts';
import { commandOfLeader } from '../lease.ts';
import { maySend } from '../own-coin.ts';
import { broadcastStored } from './broadcast-stored.ts';
import { readBudgets } from './gas-budgets.ts';
import { alertSignerRefused, unlessRefused } from './refused-by-signer.ts';
import type { Journal, RelayDeps, Relayer } from './relayer.ts';

/** The number of blocks without the transaction before it is broadcast again, and before its fee is raised. */
const REBROADCAST_BLOCKS = 3;
const BUMP_BLOCKS = 6;
const MIN_REBROADCAST_MS = 1_000;
const MIN_BUMP_MS = 10_000;
const DEFAULT_BLOCK_MS = 2_000;
const ASK_SIGNER_AGAIN_MS = 10_000;

/** Tends the transactions in flight, in the order of their nonces: broadcasts them again, raises fees, fills gaps. */
export async function maintainSends(
  deps: RelayDeps,
  relayer: Relayer,
  { open, nextNonce, minedNonce, mayTake }: Journal,
): Promise<void> {
  const { chain, id } = relayer;
  forgetMined(relayer, minedNonce);
  const nowMs = deps.world.clock.nowMs();
  const inFlight = open.map((send) => inFlightOf(send, relayer, nowMs));
  const blockMs = chain.network.finality?.blockTimeMs ?? DEFAULT_BLOCK_MS;
  const cap = deps.settings.feeCap?.(id.network);
  const facts = {
    inFlight,
    minedNonce,
    nextNonce,
    rebroadcastAfterMs: Math.max(MIN_REBROADCAST_MS, REBROADCAST_BLOCKS * blockMs),
    bumpAfterMs: Math.max(MIN_BUMP_MS, BUMP_BLOCKS * blockMs),
  };
  // The price is requested only if a send might need it.
  const isCalm =
    inFlight.length === nextNonce - minedNonce &&
    inFlight.every((send) => !send.isOutbid && send.signedAgoMs < facts.bumpAfterMs);
  const price = isCalm ? { max: 0n, tip: 0n } : await chain.sender.suggestFees();
  const hashes = new Map(open.map(({ nonce, hash }) => [nonce, hash]));
  const steps = planSends({ ...facts, raise: (fees) => chain.sender.raiseFees(fees, { price, cap }) });
  const mayFill = mayTake && steps.some((step) => step.do === 'fill') && (await isAffordable(deps, relayer, price));
  for (const step of steps) {
    if (step.do === 'fill' && !mayFill) continue;
    const hash = step.do === 'rebroadcast' ? hashes.get(step.nonce) : await signStep(deps, relayer, step, price);
    if (hash !== undefined) await broadcastStored(deps, relayer, { nonce: step.nonce, hash, isRepeated: true });
  }
}

/** An empty transfer is a new transaction, so the cap and the budget apply to it, too. */
async function isAffordable(deps: RelayDeps, relayer: Relayer, price: Fees): Promise<boolean> {
  const cap = deps.settings.feeCap?.(relayer.id.network);
  return (cap === undefined || price.max <= cap) && !(await readBudgets(deps, relayer)).isSpent;
}

function inFlightOf(send: OpenSend, { memory }: Relayer, nowMs: number): InFlight {
  const broadcastAtMs = memory.broadcastAtMs.get(send.nonce);
  return {
    nonce: send.nonce,
    fees: { max: send.maxFee, tip: send.tip },
    // Another node may have signed it by a clock that was ahead: a time in the future counts as old.
    signedAgoMs: Math.abs(nowMs - send.signedAt.getTime()),
    broadcastAgoMs: broadcastAtMs === undefined ? undefined : Math.abs(nowMs - broadcastAtMs),
    isOutbid: memory.outbid.has(send.nonce),
  };
}

/** Signs and stores the transaction, then returns its hash. Undefined if the signer refuses: the stored bytes stay in force. */
async function signStep(
  deps: RelayDeps,
  relayer: Relayer,
  step: Exclude<SendStep, { do: 'rebroadcast' }>,
  price: Fees,
): Promise<string | undefined> {
  const { id, lease, memory } = relayer;
  const { nonce } = step;
  const nowMs = deps.world.clock.nowMs();
  const refusedAtMs = memory.refusedAtMs.get(nonce);
  if (refusedAtMs !== undefined && !hasPassed(refusedAtMs, nowMs, ASK_SIGNER_AGAIN_MS)) return undefined;
  const fees = step.do === 'fill' ? price : step.fees;
  const signing = step.do === 'fill' ? signNothing(relayer, nonce, fees) : resign(deps, relayer, nonce, fees);
  const signed = await unlessRefused(signing);
  if (signed instanceof SignerRefusedError) {
    memory.refusedAtMs.set(nonce, nowMs);
    await alertSignerRefused(deps, relayer, `nonce ${nonce}`, signed.reason);
    return undefined;
  }
  const version = { ...signed, nonce, maxFee: fees.max, tip: fees.tip };
  await commandOfLeader(deps, lease, (tx, at) =>
    step.do === 'fill'
      ? insertSend(tx, id, { ...version, kind: 'nothing', fencing: lease.fencing, keys: [], at })
      : insertVersion(tx, id, version, at),
  );
  memory.outbid.delete(nonce);
  memory.refusedAtMs.delete(nonce);
  deps.meters.signed(id.network, step.do);
  deps.log.info({ ...id, nonce, hash: signed.hash, why: step.do }, 'signed again for a pending nonce');
  return signed.hash;
}

/** Signs the unpaid items again. If none is left, an empty transfer uses the nonce. */
async function resign(deps: RelayDeps, relayer: Relayer, nonce: number, fees: Fees): Promise<SignedTransaction> {
  const items = await findLiveItems(deps.db.sql, relayer.id, nonce);
  const batch = items
    .flatMap(({ signature, ...stored }) => (signature === null ? [] : [signedItemOf({ ...stored, signature })]))
    .filter((item) => maySend(deps, relayer.chain.payerSide, item));
  if (batch.length === 0) return signNothing(relayer, nonce, fees);
  return relayer.chain.sender.signBatch(relayer.signer, batch, { nonce, fees });
}

function signNothing({ chain, signer }: Relayer, nonce: number, fees: Fees): Promise<SignedTransaction> {
  return chain.sender.signNothing(signer, { nonce, fees });
}

function forgetMined({ memory }: Relayer, minedNonce: number): void {
  for (const nonce of memory.refusedAtMs.keys()) if (nonce < minedNonce) memory.refusedAtMs.delete(nonce);
  for (const nonce of memory.broadcastAtMs.keys()) if (nonce < minedNonce) memory.broadcastAtMs.delete(nonce);
  for (const nonce of memory.outbid) if (nonce < minedNonce) memory.outbid.delete(nonce);
}
