import type { Signer } from '../../chains/chain.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import { idBytes } from '../../domain/ids.ts';
import type { Item } from '../../domain/item.ts';
import { LONE_DEPTH_FACTOR } from '../../domain/quorum.ts';
import type { Log } from '../../runtime/world.ts';
import type { Screening } from '../../screening/screening.ts';
import { findCursors } from '../../store/chain/chain-cursors.ts';
import { insertItems } from '../../store/chain/items.ts';
import {
  type Attempt,
  endFailed,
  type ForgottenEvent,
  findForgotten,
  findOutgoingToBegin,
  lockOutgoing,
  markDue,
  type Outgoing,
  planAttempt,
  renewOutgoing,
} from '../../store/money/outgoing.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import type { Alarms } from '../alarms.ts';
import { type CommandDeps, command, commandOfOne } from '../command.ts';
import { hearHeights } from '../evidence.ts';
import { CONSEQUENCES } from './purposes.ts';
import { listNaming, SCREENED } from './refund/screen-refund.ts';
import { concludePaid } from './settle-outgoing.ts';

export interface OutgoingDeps extends CommandDeps {
  readonly log: Log;
  readonly screening: Screening;
  /** Raised while something is to leave an account whose key is not configured. */
  readonly keyless: Alarms;
}

/** How long an attempt can be carried out: enough for any outage that passes, and soon enough over to try another way. */
const LIFE_MS = 3_600_000;
const MAX_BEGUN = 200;
const BEGUN_AT_ONCE = 8;
/** The chain must have been read nearly to its head before anything is signed: see `findForgotten`. */
const MAX_BEHIND = 16;
const FORGOTTEN_RETRY_MS = 3_600_000;
/** In place of a signature: the payer sends coin by a transaction of its own, and that says yes to it. */
const OWN_TRANSACTION = '0x';

/** Signs what is to leave the intermediate account of a network, and puts it among the items; whether there is more. */
export async function beginOutgoing(deps: OutgoingDeps, connected: ConnectedChain): Promise<boolean> {
  const network = connected.chain.network.chainId;
  const now = new Date(deps.world.clock.nowMs());
  const waiting = await findOutgoingToBegin(deps.db.sql, { network, now, limit: MAX_BEGUN });
  const signable = waiting.flatMap((outgoing) => {
    const signer = signerOf(connected, outgoing.payer);
    return signer === undefined ? [] : [{ outgoing, signer }];
  });
  const unsigned = waiting.length - signable.length;
  const message = `${unsigned} payouts, refunds or returns wait for the key of their account: see INTERMEDIATE_KEY.`;
  await deps.keyless.set(network, unsigned === 0 ? undefined : message);
  if (signable.length === 0 || !(await isReadToHead(deps, connected))) return false;
  const failures: unknown[] = [];
  for (let start = 0; start < signable.length; start += BEGUN_AT_ONCE) {
    const some = signable.slice(start, start + BEGUN_AT_ONCE);
    const begun = await Promise.allSettled(some.map((each) => begin(deps, connected, each)));
    failures.push(...begun.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])));
  }
  // One that cannot be begun holds up no other; the job is told of it, and all are looked at again.
  if (failures.length > 0) throw failures[0];
  return unsigned === 0 && waiting.length === MAX_BEGUN;
}

/**
 * One attempt, in three steps. Its terms are stored; then exactly they are signed, outside any transaction; then the
 * signature is stored as an item, which the relayer carries out. Dying after the first or second step leaves terms that
 * are signed once more, to the same item; two nodes at once sign the same one. So every signature there will ever be
 * belongs to terms that are stored, and none is made while an earlier one may still be used.
 */
async function begin(
  deps: OutgoingDeps,
  connected: ConnectedChain,
  { outgoing, signer }: { outgoing: Outgoing; signer: Signer },
): Promise<void> {
  const { chain } = connected;
  if (await isScreened(deps, outgoing)) return;
  const attempt = attemptOf(outgoing) ?? (await plan(deps, connected, outgoing));
  if (attempt === undefined) return;
  const item = itemOf(outgoing, attempt);
  const signature = item.method === 'native' ? OWN_TRANSACTION : await chain.signItem(signer, item);
  await command(deps, async (tx, now) => {
    if (!(await markDue(tx, attempt))) return;
    const { commitment } = attempt;
    const account = `${item.network}:${item.payer}`;
    const ours = { account, quote: null, buyerName: '', buyerIcon: null, hasCode: false, resultsHash: null };
    const signed = { ...ours, commitment, purpose: outgoing.purpose, item, signature, hintedHash: null };
    await insertItems(tx, [{ ...signed, state: 'due' }], now);
  });
}

/**
 * Whether it must not leave: who would get it is on the list in force. What was planned before and is not among the items
 * was never signed for anybody to see, so nothing of it can be carried out. Merchants are the operator's to choose.
 */
async function isScreened(deps: OutgoingDeps, { id, purpose, network, recipient }: Outgoing): Promise<boolean> {
  const list = purpose === 'payout' ? undefined : listNaming(deps.screening, { network, recipient });
  if (list === undefined) return false;
  await command(deps, async (tx, at) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.isDue) return;
    const failure = { problem: SCREENED, evidence: { screening: list } };
    await CONSEQUENCES[purpose].failed(tx, outgoing, failure, at);
    await endFailed(tx, { id, problem: SCREENED, at });
  });
  deps.log.warn({ id, list }, 'not sent: its recipient is on the screening list');
  return true;
}

/** Whose key moves the money: mostly that of the intermediate account; of a stray, whatever account it came to. */
function signerOf({ intermediateSigner, relayers }: ConnectedChain, account: string): Signer | undefined {
  return [...(intermediateSigner === undefined ? [] : [intermediateSigner]), ...relayers].find(
    ({ address }) => address === account,
  );
}

/** The terms of the next attempt, stored; undefined when there is to be none now. */
async function plan(
  deps: OutgoingDeps,
  { chain, feeAccount }: ConnectedChain,
  outgoing: Outgoing,
): Promise<Attempt | undefined> {
  const { id, network, payer } = outgoing;
  const subject = Buffer.from(idBytes(id)).toString('hex');
  const forgotten = await findForgotten(deps.db.sql, { network, subject, payer });
  if (forgotten !== undefined) {
    await remember(deps, outgoing, forgotten);
    return undefined;
  }
  const deadlineS = Math.floor((deps.world.clock.nowMs() + LIFE_MS) / 1000);
  const terms = { id, feeAccount, deadline: new Date(deadlineS * 1000) };
  const attempt = { ...terms, commitment: chain.commitmentOf(itemOf(outgoing, { ...terms, commitment: '' })) };
  return (await commandOfOne(deps, (tx, now) => planAttempt(tx, attempt, now))) ? attempt : undefined;
}

/**
 * The chain tells that this has been sent, by an item that is not known here: the database was restored from a copy made
 * before. It is not sent again. What the chain tells is believed when it is final and says the same as we would have.
 */
async function remember(deps: OutgoingDeps, { id }: Outgoing, event: ForgottenEvent): Promise<void> {
  if (!event.isFinal) return;
  await command(deps, async (tx, now) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.commitment !== null) return;
    const isSame =
      event.asset === outgoing.asset &&
      event.amount === outgoing.amount &&
      event.recipient.toLowerCase() === outgoing.recipient.toLowerCase();
    if (isSame) {
      const proof = { transaction: event.transactionHash, block: event.blockNumber };
      await concludePaid(tx, outgoing, proof, now);
      return;
    }
    const message = `${event.amount} of ${event.asset} left for it to ${event.recipient} by ${event.transactionHash}, which nothing here tells of: it is not sent.`;
    await upsertAlert(tx, { name: 'forgotten_outgoing', subject: id, message, lastSeen: now });
    const retryAt = new Date(now.getTime() + FORGOTTEN_RETRY_MS);
    await renewOutgoing(tx, { id, problem: 'sent before', retryAt, at: now });
  });
}

async function isReadToHead(deps: OutgoingDeps, { chain }: ConnectedChain): Promise<boolean> {
  // One endpoint alone could claim a shorter chain and have sent again what it hides.
  const [heights, cursors] = await Promise.all([hearHeights(chain), findCursors(deps.db.sql)]);
  const cursor = cursors.find(({ network }) => network === chain.network.chainId);
  const depth = chain.network.finality?.depth ?? 1;
  const reached = heights.agreed ?? heights.alone;
  const factor = heights.agreed === undefined ? LONE_DEPTH_FACTOR : 1;
  return cursor !== undefined && reached !== undefined && cursor.finalNumber >= reached - depth * factor - MAX_BEHIND;
}

function attemptOf({ id, commitment, feeAccount, deadline }: Outgoing): Attempt | undefined {
  if (commitment === null || feeAccount === null || deadline === null) return undefined;
  return { id, commitment, feeAccount, deadline };
}

/** No fee is taken of what leaves: the recipient gets all of it. */
function itemOf(outgoing: Outgoing, { feeAccount, deadline }: Attempt): Item {
  const { network, asset, method, id: subject, payer, recipient } = outgoing;
  const amount = BigInt(outgoing.amount);
  const deadlineS = deadline.getTime() / 1000;
  return { network, asset, method, subject, payer, recipient, feeAccount, amount, fee: 0n, deadlineS };
}
