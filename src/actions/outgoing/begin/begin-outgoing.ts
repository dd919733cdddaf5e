import { amountText } from '../../../chains/amount-text.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { SignerRefusedError } from '../../../chains/signable.ts';
import type { Signer } from '../../../chains/signer.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { type Item, itemKeyOf } from '../../../domain/item.ts';
import type { Log } from '../../../runtime/world.ts';
import type { Screening } from '../../../screening/screening.ts';
import { insertItems } from '../../../store/chain/items.ts';
import { type ForgottenEvent, findForgotten, findUnexplained } from '../../../store/money/forgotten-events.ts';
import {
  type Attempt,
  countOutgoingUnsigned,
  endFailed,
  findOutgoing,
  findOutgoingToBegin,
  lockOutgoing,
  markDue,
  type Outgoing,
  planAttempt,
  postponeOutgoing,
  renewOutgoing,
} from '../../../store/money/outgoing.ts';
import { findRefund } from '../../../store/money/refunds.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Alarms } from '../../alarms.ts';
import { raiseAlert } from '../../alerts.ts';
import { command } from '../../command.ts';
import { isItsOwnFault } from '../../each-isolated.ts';
import { shownHeads } from '../../event-subject.ts';
import { ownAccounts } from '../../own-accounts.ts';
import { consentToSend } from '../../own-coin.ts';
import { provingAssets } from '../../own-transfer.ts';
import { shareFreezes } from '../../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { type SubjectKeyDeps, sealItem } from '../../subject-keys.ts';
import { checkOutgoing } from '../check/check-outgoing.ts';
import { recallMisdirected, recallUnheld } from '../payout/recall-payout.ts';
import { listNaming, SCREENED } from '../refund/screen-refund.ts';
import { isForgotten } from '../refund/signed/forgotten-refund.ts';
import { CONSEQUENCES } from '../settle/purposes.ts';
import { concludePaid } from '../settle/settle-outgoing.ts';
import { clearLimit, exceedsLimit, type LimitDeps, waitForLimit } from './limit-outgoing.ts';
import { isReadToHead } from './read-to-head.ts';

export interface OutgoingDeps extends LimitDeps, RowKeyDeps, SubjectKeyDeps {
  readonly log: Log;
  readonly screening: Screening;
  /** The alert for transfers that wait for an account whose key is not configured. */
  readonly keyless: Alarms;
  /** The alert for a transfer that fails a check and is not signed. */
  readonly refused: Alarms;
  /** The most transfers that one round begins. 200 by default. */
  readonly mostPerRound?: number;
}

/** The validity of an attempt: longer than a passing outage, short enough for an early retry. */
const LIFE_MS = 3_600_000;
const BEGUN_AT_ONCE = 8;
const FORGOTTEN_RETRY_MS = 3_600_000;
/** The time after which a refused transfer is checked again. Other transfers are not delayed. */
const CHECK_AGAIN_MS = 60_000;
/** The pause before endpoints that could not show a payment are asked again. */
const ASK_AGAIN_MS = 5_000;

/** Signs the waiting transfers of a network and stores them as items. Returns true if there are more. */
export async function beginOutgoing(deps: OutgoingDeps, connected: ConnectedChain): Promise<boolean> {
  const network = connected.chain.network.chainId;
  const signers = signersOf(connected);
  const ask = { network, signers: [...signers.keys()], now: new Date(deps.world.clock.nowMs()) };
  const limit = deps.mostPerRound ?? 200;
  const [waiting, unsigned] = await Promise.all([
    findOutgoingToBegin(deps.db.sql, { ...ask, limit }),
    countOutgoingUnsigned(deps.db.sql, ask),
  ]);
  const message = `${unsigned} payouts, refunds or returns wait for the key of their account: see INTERMEDIATE_KEY and OTHER_INTERMEDIATE_KEYS.`;
  await deps.keyless.set(network, unsigned === 0 ? undefined : message);
  if (waiting.length === 0 || !(await isReadToHead(deps, connected)) || (await isUnexplained(deps, connected))) {
    return false;
  }
  const failures: unknown[] = [];
  for (let start = 0; start < waiting.length; start += BEGUN_AT_ONCE) {
    const some = waiting.slice(start, start + BEGUN_AT_ONCE);
    const begun = await Promise.allSettled(
      some.map((outgoing) =>
        begin(deps, connected, { outgoing, signer: signers.get(outgoing.payer) }).catch((error: unknown) =>
          setAside(deps, outgoing, error),
        ),
      ),
    );
    failures.push(...begun.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])));
  }
  // A transfer that cannot begin delays no other transfer. The error makes the job fail, and the next run tries all failed transfers
  // again.
  if (failures.length > 0) throw failures[0];
  return waiting.length === limit;
}

/**
 * Moves a transfer to the back of the queue if the error concerns only this transfer. A later round tries it again. Rethrows the
 * error.
 */
async function setAside(deps: OutgoingDeps, { id, purpose, asset, amount, recipient }: Outgoing, error: unknown) {
  if (!isItsOwnFault(error)) throw error;
  deps.log.error({ id, err: error }, 'an outgoing transfer cannot be begun');
  const message = `A ${purpose} of ${amountText(deps.registry, asset, amount)} to ${recipient} cannot be signed, and is tried again. The log has the error.`;
  await deps.refused.set(id, message);
  await command(deps, (tx, now) => postponeOutgoing(tx, { id, until: now }));
  throw error;
}

/**
 * Makes one attempt at a transfer, in three steps. First, its terms are stored. Second, exactly these terms are signed, outside any
 * database transaction. Third, the signature is stored with an item, which the relayer sends. After a crash between two steps, or if two
 * nodes make the attempt at the same time, the same terms are signed again and give the same item. So every signature belongs to stored
 * terms, and no other terms are signed while an earlier signature is still valid.
 */
async function begin(
  deps: OutgoingDeps,
  connected: ConnectedChain,
  { outgoing, signer }: { outgoing: Outgoing; signer: Signer | undefined },
): Promise<void> {
  const { chain } = connected;
  if (signer === undefined) throw new Error('A transfer was chosen that no configured key can sign.');
  if ((await isScreened(deps, outgoing)) || (await recallUnheld(deps, outgoing))) return;
  if (!(await isGenuine(deps, connected, outgoing)) || (await recallMisdirected(deps, outgoing))) return;
  const attempt = attemptOf(outgoing) ?? (await plan(deps, connected, outgoing));
  if (attempt === undefined) return;
  deps.world.crashPoint?.('outgoing.planned');
  const item = itemOf(outgoing, attempt);
  const isOwnCoin = item.method === 'native';
  const signature = isOwnCoin
    ? consentToSend(deps, attempt.commitment)
    : await signUnlessRefused(deps, { outgoing, sign: () => chain.sender.signItem(signer, item) });
  if (signature === undefined) return;
  deps.world.crashPoint?.('outgoing.signed');
  await command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    if (!(await markDue(tx, attempt))) return;
    const key = itemKeyOf({ network: item.network, commitment: attempt.commitment });
    const account = `${item.network}:${item.payer}`;
    const ours = { account, quote: null, buyerName: '', buyerIcon: null, hasCode: false, resultsHash: null };
    const signed = { ...ours, key, purpose: outgoing.purpose, item, signature, hintedHash: null };
    await insertItems(tx, [{ ...signed, state: 'due' }], now);
    await deleteAlert(tx, { name: 'outgoing_refused', subject: outgoing.id });
    await deleteAlert(tx, { name: 'signer_refused', subject: outgoing.id });
  });
  deps.world.crashPoint?.('outgoing.stored');
}

/**
 * The signature. Undefined if the policy of the external signer refuses. Then the transfer keeps its terms and waits: another node may
 * have obtained a signature of these terms, so no new terms are made before these have expired on the chain.
 */
async function signUnlessRefused(
  deps: OutgoingDeps,
  { outgoing, sign }: { outgoing: Outgoing; sign: () => Promise<string> },
): Promise<string | undefined> {
  try {
    return await sign();
  } catch (error) {
    if (!(error instanceof SignerRefusedError)) throw error;
    const { id, purpose, asset, amount, recipient } = outgoing;
    const message = `A ${purpose} of ${amountText(deps.registry, asset, amount)} to ${recipient} waits, because the external signer refuses it: ${error.reason}`;
    await raiseAlert(deps, { name: 'signer_refused', subject: id, message });
    await command(deps, (tx, now) => postponeOutgoing(tx, { id, until: new Date(now.getTime() + CHECK_AGAIN_MS) }));
    return undefined;
  }
}

/**
 * Ends a transfer whose recipient is on the present screening list, and returns true. Planned terms without an item were never published,
 * so they cannot be carried out. Payouts are not screened: the operator chooses its merchants.
 */
async function isScreened(deps: OutgoingDeps, { id, purpose, network, recipient }: Outgoing): Promise<boolean> {
  const list = purpose === 'payout' ? undefined : listNaming(deps.screening, { network, recipient });
  if (list === undefined) return false;
  await command(deps, async (tx, at) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.isDue) return;
    const failure = { problem: SCREENED, evidence: { screening: list } };
    await CONSEQUENCES[purpose].failed(tx, deps, outgoing, failure, at);
    await endFailed(tx, { id, problem: SCREENED, at });
  });
  deps.log.warn({ id, list }, 'not sent: its recipient is on the screening list');
  return true;
}

/**
 * True if `checkOutgoing` finds that the transfer agrees with its order, with the reason of the order, with the books and with the chain.
 * Any other transfer is not signed, and raises an alert.
 */
async function isGenuine(deps: OutgoingDeps, connected: ConnectedChain, outgoing: Outgoing): Promise<boolean> {
  const { id, asset, amount, recipient } = outgoing;
  const check = await checkOutgoing(deps, connected, outgoing);
  if (check.is === 'good') return true;
  // Another node may have sent the transfer since it was read.
  const present = await findOutgoing(deps.db.sql, id);
  if (present?.state !== 'sending' || present.isDue) return false;
  const isRefused = check.is === 'refused';
  const reason = isRefused
    ? `${check.problem}. Find out who has written to the database.`
    : 'too few endpoints show the receipt of its payment. It is signed as soon as they do.';
  await deps.refused.set(
    id,
    `A ${outgoing.purpose} of ${amountText(deps.registry, asset, amount)} to ${recipient} is not signed: ${reason}`,
  );
  if (isRefused) deps.log.error({ id, problem: check.problem }, 'an outgoing transfer is not signed');
  const waitMs = isRefused ? CHECK_AGAIN_MS : ASK_AGAIN_MS;
  await command(deps, (tx, now) => postponeOutgoing(tx, { id, until: new Date(now.getTime() + waitMs) }));
  return false;
}

/**
 * The signers with a configured key, by address. Usually the intermediate account pays; unexpected money is returned from the account it
 * came to.
 */
function signersOf({
  intermediateSigner,
  otherIntermediates = [],
  relayers,
}: ConnectedChain): ReadonlyMap<string, Signer> {
  const signers = [
    ...relayers,
    ...otherIntermediates,
    ...(intermediateSigner === undefined ? [] : [intermediateSigner]),
  ];
  return new Map(signers.map((signer) => [signer.address, signer]));
}

/** Stores the terms of the next attempt. Undefined if no attempt may begin now. */
async function plan(deps: OutgoingDeps, connected: ConnectedChain, outgoing: Outgoing): Promise<Attempt | undefined> {
  const { chain, feeAccount } = connected;
  const { id, network } = outgoing;
  // An earlier account of ours may have sent the transfer, so all our accounts are possible payers.
  const payers = [outgoing.payer, ...(await ownAccounts(deps, connected))];
  const forgotten = await findForgotten(deps.db.sql, {
    network,
    assets: provingAssets(deps.registry, network),
    subjects: shownHeads(deps, id),
    payers,
  });
  if (forgotten !== undefined) {
    await remember(deps, outgoing, forgotten);
    return undefined;
  }
  if (await isPaidByMerchant(deps, outgoing)) return undefined;
  const collector = chain.payerSide.collector();
  if (collector === undefined) return undefined;
  const deadlineS = Math.floor((deps.world.clock.nowMs() + LIFE_MS) / 1000);
  const terms = { id, collector, feeAccount, deadline: new Date(deadlineS * 1000) };
  const item = sealItem(deps, chain.payerSide, itemOf(outgoing, { ...terms, seal: null }));
  const attempt = { ...terms, seal: item.seal ?? null, commitment: chain.payerSide.commitmentOf(item) };
  const outcome = await command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    if (await exceedsLimit(tx, deps, outgoing, now)) return 'limited';
    return (await planAttempt(tx, attempt, now)) ? 'planned' : 'taken';
  });
  if (outcome === 'limited') await waitForLimit(deps, outgoing);
  else await clearLimit(deps, outgoing);
  return outcome === 'planned' ? attempt : undefined;
}

/** True if the chain shows that the merchant's own account has paid the refund, which a restored database has forgotten. */
function isPaidByMerchant(deps: OutgoingDeps, { id, purpose }: Outgoing): Promise<boolean> {
  if (purpose !== 'refund') return Promise.resolve(false);
  return command(deps, async (tx, now) => {
    const refund = await findRefund(tx, id);
    const isPaid = refund !== undefined && (await isForgotten(tx, deps, refund, now));
    if (isPaid) await postponeOutgoing(tx, { id, until: new Date(now.getTime() + CHECK_AGAIN_MS) });
    return isPaid;
  });
}

/**
 * Handles a transfer that, as the chain shows, was sent by an item that is not stored here: the database was restored from an older
 * backup. The transfer is not sent again. If the event is final and has the same terms, the transfer is concluded as paid; other terms
 * raise an alert.
 */
async function remember(deps: OutgoingDeps, { id }: Outgoing, event: ForgottenEvent): Promise<void> {
  if (!event.isFinal) return;
  await command(deps, async (tx, now) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.commitment !== null) return;
    const isSame =
      event.asset === outgoing.asset &&
      event.amount === outgoing.amount &&
      isSameAddress(outgoing.network, event.recipient, outgoing.recipient);
    if (isSame) {
      const proof = { transaction: event.transactionHash, block: event.blockNumber };
      await concludePaid(tx, outgoing, proof, now);
      return;
    }
    const message = `${amountText(deps.registry, event.asset, event.amount)} left for it to ${event.recipient} by transaction ${event.transactionHash}, which the database does not know. It is not sent again.`;
    await upsertAlert(tx, { name: 'forgotten_outgoing', subject: id, message, lastSeen: now });
    const retryAt = new Date(now.getTime() + FORGOTTEN_RETRY_MS);
    await renewOutgoing(tx, { id, problem: 'sent before', retryAt, at: now });
  });
}

/** True while the watcher has not decided about a transfer that the database does not know: see `noticeRestore`. */
async function isUnexplained(deps: OutgoingDeps, connected: ConnectedChain): Promise<boolean> {
  const network = connected.chain.network.chainId;
  const payers = await ownAccounts(deps, connected);
  const ask = { network, assets: provingAssets(deps.registry, network), payers, isUndecided: true };
  return (await findUnexplained(deps.db.sql, ask)) !== undefined;
}

function attemptOf({ id, commitment, seal, collector, feeAccount, deadline }: Outgoing): Attempt | undefined {
  if (commitment === null || feeAccount === null || deadline === null) return undefined;
  return { id, commitment, seal, collector, feeAccount, deadline };
}

/** Outgoing transfers have no fee: the recipient gets the whole amount. */
function itemOf(outgoing: Outgoing, { seal, collector, feeAccount, deadline }: Omit<Attempt, 'commitment'>): Item {
  const { network, asset, method, id: subject, payer, recipient } = outgoing;
  const amount = BigInt(outgoing.amount);
  const deadlineS = deadline.getTime() / 1000;
  const terms = {
    network,
    collector,
    asset,
    method,
    subject,
    payer,
    recipient,
    feeAccount,
    amount,
    fee: 0n,
    deadlineS,
  };
  const { paymentId } = outgoing;
  return { ...terms, ...(seal !== null && { seal }), ...(paymentId !== null && { paymentId }) };
}
