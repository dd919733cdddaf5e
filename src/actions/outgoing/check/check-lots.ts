import type { ChainEvent } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { isSmall } from '../../../chains/finality.ts';
import type { RegistryDeps } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import type { Spend } from '../../../domain/money/holding.ts';
import { sum } from '../../../domain/money.ts';
import { findPaidEvent, listDecidedSweeps, type StoredEvent } from '../../../store/chain/chain-events.ts';
import { findLotsOf, findSpendsOf, type StoredLot } from '../../../store/money/lots.ts';
import { findPayoutsOf, type Outgoing } from '../../../store/money/outgoing.ts';
import type { CommandDeps } from '../../command.ts';
import { subjectOfEvent } from '../../event-subject.ts';
import { askWitnesses } from '../../evidence.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { type Check, GOOD, refused, UNCLEAR } from './check.ts';

type CheckDeps = Pick<CommandDeps, 'db' | 'registry'> & SubjectKeyDeps;

interface Spending {
  readonly outgoing: Outgoing;
  readonly paymentId: string;
  /** The units that the transfer takes from lots. */
  readonly units: bigint;
}

/**
 * The bound of payouts that are read for one payment. Far above the usual number: one payout for each lot that came after an earlier
 * payout.
 */
const MAX_PAYOUTS = 1_000;

/**
 * Checks that the lots which an order names make up its amount, and that the chain shows their money. All spends of each lot count,
 * including those of earlier orders, so that no lot is spent twice.
 */
export async function checkLots(
  deps: CheckDeps,
  { chain }: ConnectedChain,
  { outgoing, paymentId, units }: Spending,
): Promise<Check> {
  const { sql } = deps.db;
  const [lots, spends, payouts] = await Promise.all([
    findLotsOf(sql, [paymentId]),
    findSpendsOf(sql, [paymentId]),
    findPayoutsOf(sql, paymentId, MAX_PAYOUTS),
  ]);
  const own = spends.filter(({ order }) => order === outgoing.id);
  if (sumOf(own) !== units) return refused('the lots that it takes differ from its amount');
  if (own.some((spend) => !isOf(spend, outgoing))) return refused('it takes lots of another asset or account');
  const others = Map.groupBy(spends, ({ order, purpose }) => (purpose === 'payout' ? order : undefined));
  const isEachOrdered = [...others].every(
    ([order, parts]) =>
      order === undefined ||
      payouts.some(({ id, state, amount }) => id === order && state !== 'failed' && BigInt(amount) === sumOf(parts)),
  );
  const isEachSpent = payouts.every(({ id, state }) => state === 'failed' || others.has(id));
  if (!isEachOrdered || !isEachSpent) return refused('the payouts of its payment differ from the lots that they took');
  const named = own.map(({ lot }) => lots.find(({ id }) => id === lot));
  // A reorg removed the lot. Its transfer may be mined again.
  if (named.some((lot) => lot === undefined)) return UNCLEAR;
  const known = named.flatMap((lot) => lot ?? []);
  if (known.some((lot) => lot.merchantId !== outgoing.merchantId || !lot.isHeld)) {
    return refused('it takes lots that are not held for its merchant');
  }
  for (const lot of known.filter(({ address }) => address === null)) {
    const check = await checkItem(deps, chain, {
      lot,
      outgoing,
      spent: sumOf(spends.filter((each) => each.lot === lot.id)),
    });
    if (check.is !== 'good') return check;
  }
  const swept = known.filter(({ address }) => address !== null);
  for (const commitment of new Set(swept.map((lot) => lot.commitment))) {
    const ids = new Set(lots.filter((lot) => lot.commitment === commitment).map(({ id }) => id));
    const spent = sumOf(spends.filter((spend) => ids.has(spend.lot) && isOf(spend, outgoing)));
    const check = await checkSweeps(deps, chain, { ...outgoing, commitment, units: spent, isNet: true });
    if (check.is !== 'good') return check;
  }
  return GOOD;
}

function isOf(spend: Spend, { network, asset, payer }: Outgoing): boolean {
  return spend.network === network && spend.asset === asset && spend.account === payer;
}

function sumOf(spends: readonly Spend[]): bigint {
  return sum(spends.map(({ amount }) => amount));
}

interface ItemLot {
  readonly lot: StoredLot;
  readonly outgoing: Outgoing;
  /** The units of the lot that all orders together have taken. */
  readonly spent: bigint;
}

/** Checks that the chain shows the item's payment, and that the payment credited the account with at least the units that are spent. */
async function checkItem(deps: CheckDeps, chain: ConnectedChain['chain'], { lot, outgoing, spent }: ItemLot) {
  const event = await findPaidEvent(deps.db.sql, lot);
  if (event === undefined) return refused('no event on the chain is known that paid its payment');
  const isMatch = (reported: ChainEvent) =>
    reported.type === 'paid' &&
    reported.commitment === lot.commitment &&
    reported.asset === lot.asset &&
    isSameAddress(outgoing.network, reported.recipient, outgoing.payer) &&
    spent <= reported.amount - reported.fee &&
    subjectOfEvent(deps, chain.payerSide, reported) === lot.payment;
  return checkReceipt(deps, chain, { event, outgoing, isMatch });
}

/** Checks that enough endpoints show the event in the receipt of its transaction. */
export async function checkReceipt(
  deps: RegistryDeps,
  chain: ConnectedChain['chain'],
  { event, outgoing, isMatch }: { event: StoredEvent; outgoing: Outgoing; isMatch: (reported: ChainEvent) => boolean },
): Promise<Check> {
  const { finding } = await askWitnesses(chain.reader, async (witness) => {
    const receipt = await witness.receipt(event.transactionHash);
    return receipt && (receipt.events.some(isMatch) ? 'shown' : 'not shown');
  });
  const isEnough = finding.is === 'agreed' || (finding.is === 'alone' && isSmall(deps, chain.network, outgoing));
  if (!isEnough) return UNCLEAR;
  return finding.value === 'shown' ? GOOD : refused('the chain shows no payment with these terms');
}

interface Sweeps extends Pick<Outgoing, 'network' | 'asset' | 'amount' | 'payer'> {
  readonly commitment: string;
  readonly units: bigint;
  /** True if only money counts that reached the paying account, after fees. */
  readonly isNet: boolean;
}

/** Checks that sweeps of the deposit address have brought at least these units. */
export async function checkSweeps(
  deps: Pick<CheckDeps, 'db' | 'registry'>,
  chain: ConnectedChain['chain'],
  { network, commitment, asset, amount, payer, units, isNet }: Sweeps,
): Promise<Check> {
  const events = await listDecidedSweeps(deps.db.sql, { network, commitment, asset });
  const hashes = sufficient(events, units, isNet);
  const { finding } = await askWitnesses(chain.reader, async (witness) => {
    const receipts = await Promise.all(hashes.map((hash) => witness.receipt(hash)));
    if (receipts.some((receipt) => receipt === undefined)) return undefined;
    const sweeps = receipts.flatMap((receipt) => receipt?.events ?? []).filter((reported) => reported.type === 'swept');
    return sweeps
      .filter((reported) => reported.commitment === commitment && reported.asset === asset)
      .filter((reported) => !isNet || isSameAddress(network, reported.recipient, payer))
      .reduce((sum, reported) => sum + (isNet ? reported.amount - reported.fee : reported.amount), 0n)
      .toString();
  });
  const isEnough =
    finding.is === 'agreed' || (finding.is === 'alone' && isSmall(deps, chain.network, { asset, amount }));
  // If too few units are swept, the rest may still be at the deposit address, and is swept soon.
  if (!isEnough || BigInt(finding.value) < units) return UNCLEAR;
  return GOOD;
}

/**
 * The transactions of the largest sweeps that together reach the amount. Small sweeps are skipped, because a stranger may have
 * swept single units thousands of times.
 */
function sufficient(events: readonly StoredEvent[], needed: bigint, isNet: boolean): string[] {
  const unitsOf = ({ fields }: StoredEvent) => BigInt(fields.amount ?? '0') - (isNet ? BigInt(fields.fee ?? '0') : 0n);
  const hashes = new Set<string>();
  let sum = 0n;
  for (const event of events.toSorted((a, b) => Number(unitsOf(b) > unitsOf(a)) - Number(unitsOf(a) > unitsOf(b)))) {
    if (sum >= needed) break;
    sum += unitsOf(event);
    hashes.add(event.transactionHash);
  }
  return [...hashes];
}
