import type { Chain } from '../../../chains/chain.ts';
import type { Registry, RegistryDeps } from '../../../chains/registry.ts';
import { caipKey, isSameAccount, isSameAddress } from '../../../domain/addresses/families.ts';
import { difference, type Line, paidPosition } from '../../../domain/books.ts';
import { chainIn } from '../../../domain/caip.ts';
import { differences } from '../../../domain/evidence.ts';
import { slotsOf } from '../../../store/chain/sends.ts';
import {
  type EventState,
  findDestinationOwners,
  findEventStates,
  findReverted,
} from '../../../store/money/book-comparison.ts';
import { type ComparedItem, findComparedItems, findOtherItems } from '../../../store/money/book-items.ts';
import { listEntriesInBlocks, positionsOf, type StoredEntry } from '../../../store/money/books.ts';
import { listUnexpectedTransfers } from '../../../store/money/unexpected-money.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { hasLeft, NO_TRANSFER } from '../../own-transfer.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { compareOutgoing, misbookedText } from './compare-outgoing.ts';
import { hasOwnSeal, nameEvents, type PaidEvent, type SweptEvent } from './paid-event.ts';

export interface Difference {
  /** The id of the payment or transfer, or the address of the account, whose records differ from the chain. */
  readonly subject: string;
  readonly block: number | null;
  readonly transaction: string | null;
  readonly message: string;
}

export interface EventsCompared {
  readonly events: number;
  /** The number of events that belong to no payment or transfer of ours. */
  readonly foreign: number;
  /** The number of events that the watcher has not decided yet. */
  readonly waiting: number;
  readonly differences: readonly Difference[];
  /** One sentence for each log that cannot be read. */
  readonly unreadable: readonly string[];
}

interface Ask {
  readonly chain: Chain;
  /** The intermediate accounts, present and former. */
  readonly intermediates: readonly string[];
  /** The accounts of the gateway: the intermediate account, the relayers, and all accounts that formerly had these roles. */
  readonly own: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Compares the Collector's events of some blocks with items, payments and books, and the books with the events. */
export async function compareEvents(
  { db: { sql: db }, registry, subjectKeys }: { readonly db: { readonly sql: Reader } } & RegistryDeps & SubjectKeyDeps,
  { chain, intermediates, own, from, to }: Ask,
): Promise<EventsCompared> {
  const network = chain.network.chainId;
  const unreadable: string[] = [];
  const events = await chain.reader.events(from, to, ({ place, reason }) => {
    const where = place === undefined ? `in blocks ${from} to ${to}` : `${place.logIndex} of ${place.transactionHash}`;
    unreadable.push(`Log ${where} cannot be read: ${reason}.`);
  });
  const paid = events.filter((event) => event.type === 'paid');
  const paidEvents: PaidEvent[] = nameEvents({ subjectKeys }, chain.payerSide, paid);
  // The states of events are read before items and books. In the other order an event could be decided between the two reads, and its
  // item would look unpaid.
  const states = await findEventStates(db, { network, from, to });
  const facts = await readFacts(db, registry, { network, intermediates, own, paidEvents });
  const stateOf = new Map(states.map((state) => [placeOf(state), state]));
  const found: Difference[] = [];
  let foreign = 0;
  let waiting = 0;
  for (const event of paidEvents) {
    const item = facts.items.get(event.commitment);
    const state = stateOf.get(placeOf(event));
    if (state?.problem === NO_TRANSFER) {
      foreign += 1;
    } else if (facts.isOutgoing(event)) {
      if (state?.isDecided === false) waiting += 1;
      else found.push(...facts.compareOutgoing(event).map((problem) => differing(event, problem)));
    } else if (item === undefined) {
      if (facts.isOurs(event)) found.push(differing(event, 'was paid on chain, and nothing is known of its item.'));
      else foreign += 1;
    } else if (state?.isDecided === false) {
      waiting += 1;
    } else {
      found.push(...compareEvent(event, item, state, facts));
    }
  }
  const booked = await listEntriesInBlocks(db, { network, kinds: ['paid', 'rebuilt'], from, to });
  const reported = new Set(paidEvents.map(({ commitment, transactionHash }) => `${commitment} ${transactionHash}`));
  const unreported = booked.filter(({ reference, transaction }) => !reported.has(`${reference} ${transaction}`));
  const gone = await findReverted(
    db,
    unreported.map(({ reference }) => reference),
  );
  found.push(...unreported.filter(({ reference }) => !gone.has(reference)).map(notOnChain));
  return { events: paidEvents.length, foreign, waiting, differences: found, unreadable };
}

interface Facts {
  readonly registry: Registry;
  readonly items: ReadonlyMap<string, ComparedItem>;
  readonly positions: ReadonlyMap<string, Line[]>;
  readonly reverted: ReadonlySet<string>;
  isOurs(event: PaidEvent): boolean;
  isOutgoing(event: PaidEvent): boolean;
  compareOutgoing(event: PaidEvent): readonly string[];
}

async function readFacts(
  db: Reader,
  registry: Registry,
  {
    network,
    intermediates,
    own,
    paidEvents,
  }: Pick<Ask, 'intermediates' | 'own'> & { readonly network: string; readonly paidEvents: readonly PaidEvent[] },
): Promise<Facts> {
  const commitments = [...new Set(paidEvents.map(({ commitment }) => commitment))];
  const [items, others, positions, reverted] = await Promise.all([
    findComparedItems(db, network, commitments),
    findOtherItems(db, network, commitments),
    positionsOf(db, commitments),
    findReverted(db, commitments),
  ]);
  const known = new Map(items.map((item) => [item.reference, item]));
  const isOutgoing = (event: PaidEvent) => others.has(event.commitment) || hasLeft(registry, event, own);
  const outgoing = paidEvents.filter(isOutgoing);
  const unknown = paidEvents.filter((event) => !known.has(event.commitment) && !isOutgoing(event));
  const isOurs = await ownershipOf(db, registry, { network, intermediates, unknown });
  const isNamed = await unexpectedAmong(db, network, unknown);
  return {
    registry,
    items: known,
    positions,
    reverted,
    isOurs: (event) => isOurs(event) && !isNamed(event),
    isOutgoing,
    compareOutgoing: await compareOutgoing(db, registry, outgoing),
  };
}

/**
 * Returns a function that is true for an event whose money is stored as unexpected money. With the first releases of the contract,
 * anybody can pay our account with the id of any payment. An operator gives that money back or makes it a float.
 */
async function unexpectedAmong(
  db: Reader,
  network: string,
  unknown: readonly PaidEvent[],
): Promise<(event: PaidEvent) => boolean> {
  const unsealed = unknown.filter((event) => hasOwnSeal(event) === undefined);
  if (unsealed.length === 0) return () => false;
  const keyOf = (transaction: string, asset: string, units: bigint) => `${transaction} ${asset} ${units}`;
  const hashes = [...new Set(unsealed.map(({ transactionHash }) => transactionHash))];
  const stored = await listUnexpectedTransfers(db, network, hashes);
  const named = new Set(stored.map((each) => keyOf(each.transactionHash, each.asset, BigInt(each.amount))));
  return (event) =>
    hasOwnSeal(event) === undefined && named.has(keyOf(event.transactionHash, event.asset, event.amount - event.fee));
}

type OwnableEvent = Pick<
  PaidEvent | SweptEvent,
  'asset' | 'id' | 'isNamed' | 'terms' | 'recipient' | 'transactionHash'
>;

/**
 * Returns a function that is true for an event of this gateway. Anybody can use the Collector to pay anybody. An event without a known
 * item belongs to this gateway if it has a seal of this gateway. Contracts of the first releases emit no seals and accept any id: their
 * event belongs to this gateway if we sent its transaction, if a payment names the transaction, or if the money went to an account that
 * we pay to.
 */
export async function ownershipOf(
  db: Reader,
  registry: Registry,
  {
    network,
    intermediates,
    unknown,
  }: { network: string; intermediates: readonly string[]; unknown: readonly OwnableEvent[] },
): Promise<(event: OwnableEvent) => boolean> {
  if (unknown.length === 0) return () => false;
  const accounts = [...new Set(unknown.map(({ recipient }) => `${network}:${recipient}`))];
  const [sent, owners, payments] = await Promise.all([
    slotsOf(db, [...new Set(unknown.map(({ transactionHash }) => transactionHash))]),
    findDestinationOwners(db, accounts),
    findPayments(db, [...new Set(unknown.map(({ id }) => id))]),
  ]);
  const paidBy = new Map(payments.flatMap((payment) => (payment ? [[payment.id, payment.transactionHash]] : [])));
  const paidAt = new Set(owners.map(({ destination }) => caipKey(destination)));
  return (event) =>
    registry.asset(event.asset) !== undefined &&
    (hasOwnSeal(event) ??
      (sent.has(event.transactionHash) ||
        paidBy.get(event.id) === event.transactionHash ||
        paidAt.has(caipKey(`${network}:${event.recipient}`)) ||
        intermediates.some((account) => isSameAddress(network, event.recipient, account))));
}

function compareEvent(event: PaidEvent, item: ComparedItem, state: EventState | undefined, facts: Facts): Difference[] {
  const problems: string[] = [];
  if (state === undefined) problems.push('was paid on chain by an event that was never read.');
  if (state?.problem != null) problems.push(`was paid on chain, and that was set aside: ${state.problem}.`);
  const stored = { ...item, amount: item.amount.toString(), fee: item.fee.toString() };
  const shown = { ...event, amount: event.amount.toString(), fee: event.fee.toString() };
  const wrong = differences(shown, stored);
  if (event.id !== item.subject) wrong.push('payment');
  if (wrong.length > 0) problems.push(`differs from the chain in the ${wrong.join(', ')} of its item.`);
  if (item.state !== 'paid') problems.push(`was paid on chain, and its item is ${item.state}.`);
  problems.push(...comparePayment(event, item, facts.reverted.has(event.commitment)));
  const position = paidPosition({ ...item, amount: event.amount, fee: event.fee }, item.isUnexpected);
  const booked = facts.positions.get(event.commitment) ?? [];
  for (const { account } of difference(position, booked)) {
    problems.push(misbookedText(facts.registry, event.asset, { account, booked, position }));
  }
  return problems.map((problem) => differing(event, problem));
}

function comparePayment(event: PaidEvent, { payment, isExtra }: ComparedItem, wasReverted: boolean): string[] {
  // The item was paid after its payment had ended. The payment's row describes another item, so it is not compared.
  if (isExtra) return [];
  if (payment.status !== 'succeeded') return [`was paid on chain, and is ${payment.status}.`];
  const isBuyer =
    payment.buyerAccount !== null &&
    isSameAccount(payment.buyerAccount, `${chainIn(payment.buyerAccount)}:${event.payer}`);
  const wrong = [
    ...(payment.tokenAsset === event.asset ? [] : ['asset']),
    ...(payment.tokenValue === event.amount.toString() ? [] : ['amount']),
    ...(isBuyer ? [] : ['buyer']),
    ...(payment.transactionHash === event.transactionHash || wasReverted ? [] : ['transaction']),
  ];
  return wrong.length === 0 ? [] : [`differs from the chain in its ${wrong.join(', ')}.`];
}

function notOnChain({ subject, block, transaction, kind }: StoredEntry): Difference {
  return { subject, block, transaction, message: `${subject} is in the books as ${kind}, and not on the chain.` };
}

function differing(event: PaidEvent, problem: string): Difference {
  const { id: subject, block, transactionHash: transaction } = event;
  return { subject, block: block.number, transaction, message: `${subject} ${problem}` };
}

function placeOf({ transactionHash, logIndex }: Pick<EventState, 'transactionHash' | 'logIndex'>): string {
  return `${transactionHash} ${logIndex}`;
}
