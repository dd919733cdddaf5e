import { amountText, tokenText } from '../../chains/amount-text.ts';
import type { Chain } from '../../chains/chain.ts';
import { ChainUnavailableError, ContractFaultError } from '../../chains/chain-errors.ts';
import type { ChainReader } from '../../chains/chain-reader.ts';
import type { Chains } from '../../chains/chains.ts';
import { blockTimeOf, finalityOf, isSmall } from '../../chains/finality.ts';
import type { Network } from '../../chains/network.ts';
import type { Registry, RegistryDeps } from '../../chains/registry.ts';
import { fullWeightOf } from '../../chains/weight.ts';
import { visibleStatus } from '../../domain/payment.ts';
import { LONE_DEPTH_FACTOR } from '../../domain/quorum.ts';
import { takesPart } from '../../domain/refund.ts';
import type { AttemptFacts, NetworkFacts, SeenFacts, StopFacts, WaitFacts } from '../../domain/wait-facts.ts';
import type { ListedFacts, OutgoingFacts } from '../../domain/wait-money.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { Clock } from '../../runtime/world.ts';
import type { AttemptRow, SeenEvent } from '../../store/chain/attempt-history.ts';
import { type ChainCursor, findCursors } from '../../store/chain/chain-cursors.ts';
import { findListedMoney } from '../../store/chain/deposit-places.ts';
import type { Refund } from '../../store/money/refunds.ts';
import { listSettlements } from '../../store/parties/destinations.ts';
import { type Freeze, listFreezes } from '../../store/parties/freezes.ts';
import { findPaymentSettlement } from '../../store/payments/payment-settlements.ts';
import { stateOf } from '../../store/payments/payments.ts';
import { type Alert, listAlerts } from '../../store/plumbing/alerts.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { isHeld, type LeaseState, listLeases } from '../../store/plumbing/leases.ts';
import { askWitnesses, describeStatements } from '../evidence.ts';
import { limitsOf, type RelaySettings } from '../relay/relayer.ts';
import { watchLeaseName } from '../watch/watcher.ts';
import type { History } from './history.ts';

export interface FactDeps extends RegistryDeps {
  readonly db: Reader;
  readonly clock: Clock;
  readonly chains: Chains;
  readonly settings: RelaySettings;
  /** True if chains may be asked. Otherwise only the state is used that is known without a call to a chain. */
  readonly asksChain: boolean;
}

/** The state of the gateway that concerns an open payment. */
interface Surroundings {
  readonly freezes: readonly Freeze[];
  readonly alerts: readonly Alert[];
  readonly leases: readonly LeaseState[];
  readonly cursors: readonly ChainCursor[];
}

/** Gathers the facts from which `waitOf` derives the reason of the wait. */
export async function gatherFacts(deps: FactDeps, history: History): Promise<WaitFacts> {
  const { db, clock } = deps;
  const nowMs = clock.nowMs();
  const { payment, attempts } = history;
  const [freezes, alerts, leases, cursors] = await Promise.all([
    listFreezes(db),
    listAlerts(db),
    listLeases(db),
    findCursors(db),
  ]);
  const around = { freezes, alerts, leases, cursors };
  const own = attempts.filter(({ subject }) => subject === payment.id);
  const open = own.filter(({ state }) => state === 'offered' || state === 'due' || state === 'sent');
  const status = visibleStatus(stateOf(payment), nowMs);
  const networks = new Map<string, QuietNetwork>();
  for (const network of new Set(open.map((attempt) => attempt.network))) {
    networks.set(network, await networkFacts(deps, network, around));
  }
  const factsOf = (attempt: AttemptRow) =>
    attemptFacts(deps, { history, attempt, around, network: networks.get(attempt.network) as QuietNetwork });
  return {
    nowMs,
    status,
    sinceMs: status === payment.status ? payment.updatedAt.getTime() : payment.expiresAt.getTime(),
    expiresAtMs: payment.expiresAt.getTime(),
    stops: merchantStops(history, freezes),
    closed: closedBy(history),
    attempts: await Promise.all(open.map(factsOf)),
    isReorganised: status === 'succeeded' && own.every(({ state }) => state !== 'paid'),
    outgoing: await outgoingFacts(db, deps.registry, history, freezes),
    listed: await listedFacts(deps, payment.id),
  };
}

/** The facts about a network without its alerts, because the attempt decides which alerts concern it. */
type QuietNetwork = Omit<NetworkFacts, 'alerts'>;

async function networkFacts(
  { chains, registry, asksChain, clock }: FactDeps,
  network: string,
  { leases, cursors }: Surroundings,
): Promise<QuietNetwork> {
  const connected = chains.find(network);
  const realMs = unshifted(clock).nowMs();
  const known: Network | undefined = connected?.chain.network ?? registry.network(network);
  const cursor = cursors.find((each) => each.network === network);
  const relays = leases.filter(({ name }) => name.startsWith(`relay ${network} `));
  return {
    chainId: network,
    name: known?.name ?? network,
    blockTimeMs: blockTimeOf(known),
    head: connected && (await headOf(connected.chain, asksChain)),
    readBlock: cursor?.blockNumber,
    finalAtMs: cursor?.finalAt.getTime(),
    hasRelayer: connected === undefined || connected.relayers.length > 0,
    isWatched: isHeld(leases, watchLeaseName(network), realMs),
    isRelayed: relays.some(({ name }) => isHeld(relays, name, realMs)),
  };
}

function headOf(chain: Chain, asksChain: boolean): Promise<number | undefined> | number | undefined {
  return asksChain ? orUnknown(chain.reader.head().then(({ number }) => number)) : chain.health().headNumber;
}

interface AttemptAsk {
  readonly history: History;
  readonly attempt: AttemptRow;
  readonly network: QuietNetwork;
  readonly around: Surroundings;
}

async function attemptFacts(deps: FactDeps, ask: AttemptAsk): Promise<AttemptFacts> {
  const { attempt, network, history, around } = ask;
  const { versions, seen } = history;
  const { key, commitment, state, failures, workSpent } = attempt;
  const limits = limitsOf(deps, attempt.network);
  const transaction = versions.findLast((version) => version.key === key && !version.isFinal);
  const isShown = (event: SeenEvent) => event.network === attempt.network && event.commitment === commitment;
  const shown = seen.find((event) => isShown(event) && event.type === 'paid' && event.lostAt === null);
  const stop = around.freezes.find(({ scope, subject }) => scope === 'network' && subject === attempt.network);
  return {
    state: state as AttemptFacts['state'],
    isDeposit: attempt.method === 'deposit',
    network: { ...network, alerts: alertsOn(deps, ask, transaction?.signer) },
    acceptedAtMs: attempt.acceptedAt.getTime(),
    deadlineMs: attempt.deadline.getTime(),
    refusal: attempt.refusal,
    retryAtMs: attempt.retryAt?.getTime() ?? null,
    shortBy: await shortBy(deps, attempt, network.head),
    isExhausted: failures >= limits.failures || (limits.work !== undefined && BigInt(workSpent) >= limits.work),
    payerRetryAtMs: attempt.payerRetryAt?.getTime() ?? null,
    stop: stop && stopOf(stop, `The network ${network.name} is frozen`),
    transaction: transaction && {
      hash: transaction.hash,
      version: transaction.version,
      broadcastAtMs: transaction.broadcastAt?.getTime(),
    },
    seen: shown && (await seenFacts(deps, attempt, shown)),
  };
}

/** The alerts about the network that concern the attempt. Other alerts concern other payers, relayers or transactions. */
function alertsOn({ chains }: FactDeps, { attempt, around }: AttemptAsk, signer: string | undefined) {
  const { network, hasCode, failures, refusal, retryAt } = attempt;
  const relayers = chains.find(network)?.relayers.length ?? 1;
  const own = around.alerts.filter(({ subject }) => subject === network || subject.startsWith(`${network}:`));
  const isEachShort = own.filter(({ name }) => name === 'relayer_out_of_funds').length >= relayers;
  const concerns = ({ name, subject }: Alert) => {
    if (name === 'send_stuck') return subject === `${network}:${signer}`;
    if (name === 'relayer_out_of_funds') return isEachShort;
    if (name !== 'gas_budget_spent' || subject === network) return true;
    if (subject === `${network}:apart`) return hasCode || failures > 0;
    return subject === `${network}:payers` && refusal === null && retryAt !== null;
  };
  return own.filter(concerns).map(({ name, message, since }) => ({ name, message, sinceMs: since.getTime() }));
}

/** The amount that the payer lacks, if the attempt waits for it and the chain may be asked. */
async function shortBy(
  { chains, registry, asksChain }: FactDeps,
  attempt: AttemptRow,
  head: number | undefined,
): Promise<string | undefined> {
  const chain = chains.find(attempt.network)?.chain;
  if (!asksChain || chain === undefined || head === undefined || attempt.refusal !== 'short_balance') return undefined;
  const held = await orUnknown(chain.reader.holding(attempt.payer, attempt.asset, head));
  const missing = held === undefined ? 0n : BigInt(attempt.amount) - held;
  return missing > 0n ? tokenText(registry, attempt.asset, missing) : undefined;
}

async function seenFacts(deps: FactDeps, attempt: AttemptRow, event: SeenEvent): Promise<SeenFacts> {
  const { chains, registry, asksChain } = deps;
  const chain = chains.find(attempt.network)?.chain;
  const network = chain?.network ?? registry.network(attempt.network);
  const { depth, tag } = network === undefined ? { depth: 1, tag: undefined } : finalityOf(deps, network, attempt);
  return {
    block: event.blockNumber,
    readAtMs: event.readAt?.getTime(),
    depth,
    loneDepth: network !== undefined && isSmall(deps, network, attempt) ? depth * LONE_DEPTH_FACTOR : undefined,
    tag,
    answers: asksChain && chain !== undefined ? await answersOf(chain.reader, event) : undefined,
  };
}

/** The answers of the endpoints about the transaction of an event. */
async function answersOf(reader: ChainReader, { transactionHash, blockHash }: SeenEvent): Promise<string> {
  const { statements } = await askWitnesses(
    reader,
    async (witness) => (await witness.receipt(transactionHash))?.block.hash,
  );
  return describeStatements(statements, (hash) =>
    hash === blockHash ? 'it is in that block' : 'it is in another block',
  );
}

function merchantStops({ payment, merchant }: History, freezes: readonly Freeze[]): StopFacts[] {
  const { merchantId, partnerId } = payment;
  const frozen = freezes.flatMap((freeze) => {
    const { scope, subject } = freeze;
    if (scope === 'merchant' && subject === merchantId) return [stopOf(freeze, `The merchant ${subject} is frozen`)];
    if (scope === 'partner' && subject === partnerId) return [stopOf(freeze, `The partner ${subject} is frozen`)];
    return [];
  });
  if (merchant?.status !== 'suspended') return frozen;
  const suspension = {
    what: `The merchant ${merchantId} is suspended`,
    reason: '`till audit list` shows who did it',
    by: undefined,
    sinceMs: undefined,
    lift: `till merchants activate ${merchantId}`,
  };
  return [...frozen, suspension];
}

function closedBy({ payment, merchant, partner }: History): StopFacts | undefined {
  const closed = { reason: '`till audit list` shows who did it', by: undefined };
  if (merchant?.deletedAt) {
    const { id, deletedAt } = merchant;
    const lift = `till merchants restore ${id}`;
    return { ...closed, what: `The merchant ${id} is deleted`, sinceMs: deletedAt.getTime(), lift };
  }
  if (!partner?.disabledAt) return undefined;
  const lift = `till partners enable ${payment.partnerId}`;
  return {
    ...closed,
    what: `The partner ${payment.partnerId} is disabled`,
    sinceMs: partner.disabledAt.getTime(),
    lift,
  };
}

function stopOf({ scope, subject, reason, actor, since }: Freeze, what: string): StopFacts {
  const lift = `till unfreeze ${scope}${subject === '' ? '' : ` ${subject}`} --reason …`;
  return { what, reason, by: actor, sinceMs: since.getTime(), lift };
}

/** The oldest money of listed senders that is worth a sweep. */
async function listedFacts({ db, registry }: FactDeps, paymentId: string): Promise<ListedFacts | undefined> {
  const found = await findListedMoney(db, paymentId);
  const money = found.find(({ asset, units }) => fullWeightOf(registry.asset(asset), BigInt(units)) >= 1n);
  if (money === undefined) return undefined;
  const { asset, units, address, since } = money;
  return { paymentId, amount: amountText(registry, asset, units), address, sinceMs: since.getTime() };
}

/** The facts about the open refund, or else about the open payout or the amount that is held. */
async function outgoingFacts(
  db: Reader,
  registry: Registry,
  history: History,
  freezes: readonly Freeze[],
): Promise<OutgoingFacts | undefined> {
  const { payment, payouts, held, refunds, events, attempts } = history;
  const refusalOf = (order: string) => attempts.find((each) => each.subject === order && each.state === 'due')?.refusal;
  const refund = refunds.find((each) => each.state !== 'refunded' && takesPart(each));
  const stop = (
    purpose: 'refund' | 'payout',
    { network, asset }: Pick<Refund, 'network' | 'asset'>,
    { isFree = false, isRedirected = false } = {},
  ) => {
    const found = freezes.find(
      ({ scope, subject }) =>
        scope === `${purpose}s` ||
        ((scope === 'network' || scope === 'restored') && subject === network) ||
        (scope === 'asset' && subject === asset),
    );
    const general =
      found && stopOf(found, found.subject === '' ? `Every ${purpose} is frozen` : `${found.subject} is frozen`);
    const [merchants] = isFree ? [] : merchantStops(history, freezes);
    const named = general ?? merchants ?? (isRedirected && !isFree ? closedBy(history) : undefined);
    if (named === undefined) return undefined;
    const { what, by, reason, lift } = named;
    return `${what}${by === undefined ? '' : ` by ${by}`}: ${reason}. \`${lift}\` ends it`;
  };
  if (refund !== undefined && refund.state !== 'refunded') {
    const { id, network, asset, amount, updatedAt, problem, isOperators, sendAfter } = refund;
    const common = {
      id,
      network,
      amount: amountText(registry, asset, amount),
      state: refund.state,
      sinceMs: updatedAt.getTime(),
      problem,
      refusal: refusalOf(id),
    };
    const coolsUntilMs = isOperators ? undefined : sendAfter?.getTime();
    const free = { isFree: isOperators, isRedirected: sendAfter !== null };
    const whose = { stop: stop('refund', refund, free), destination: undefined };
    const settlement = refund.fromHeld === '0' ? await findPaymentSettlement(db, payment.id) : undefined;
    const merchantAccount = settlement?.asset === asset ? settlement.recipient : null;
    const isHold = refund.waitsFor !== null;
    return { purpose: 'refund', ...common, ...whose, coolsUntilMs, merchantAccount, isHold };
  }
  const sending = payouts.find(({ state }) => state === 'sending');
  const money = sending ?? held[0];
  if (money === undefined) return undefined;
  const { network, asset, amount, problem } = money;
  const { crypto } = await listSettlements(db, payment.merchantId);
  const destination = crypto.find((settlement) => settlement.asset === asset);
  return {
    purpose: 'payout',
    id: payment.id,
    network,
    amount: amountText(registry, asset, amount),
    state: sending === undefined ? 'held' : 'sending',
    sinceMs: (events.at(-1)?.at ?? payment.updatedAt).getTime(),
    problem,
    refusal: sending && refusalOf(sending.id),
    stop: stop('payout', money),
    destination: destination && { heldFromMs: destination.heldFrom.getTime() },
  };
}

function orUnknown<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof ChainUnavailableError || error instanceof ContractFaultError) return undefined;
    throw error;
  });
}
