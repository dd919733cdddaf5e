import type { Chain } from '../../../chains/chain.ts';
import type { ChainEvent, Witness } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { isSmall } from '../../../chains/finality.ts';
import type { RegistryDeps } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { leastPaid, MOST_TOLERANCE_BASIS_POINTS, mostFeesOf } from '../../../domain/deposit.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import { listDecidedSweeps } from '../../../store/chain/chain-events.ts';
import { listDepositsOf, type OpenDeposit } from '../../../store/chain/deposits.ts';
import { findPayingItem, type StoredItem } from '../../../store/chain/items.ts';
import { findMerchantsOf } from '../../../store/events/events.ts';
import { sumReturned } from '../../../store/money/late-money.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { findSpendsBy } from '../../../store/money/payable-lots.ts';
import { findUnexpected, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import type { CommandDeps } from '../../command.ts';
import { subjectOfEvent } from '../../event-subject.ts';
import { askWitnesses } from '../../evidence.ts';
import { isOwnDeposit } from '../../paying/deposit-rows.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { type Check, GOOD, refused, UNCLEAR } from '../check/check.ts';
import { checkLots } from '../check/check-lots.ts';
import { isOwnReturn } from './return-rows.ts';

type CheckDeps = Pick<CommandDeps, 'db' | 'registry'> & RowKeyDeps & SubjectKeyDeps;

/**
 * The maximum number of sweep receipts that one check reads. The largest sweeps are read; smaller ones beyond this number are
 * ignored.
 */
const MAX_PROVED = 50;

/**
 * Checks the return of a float or of unexpected money before it is signed. Operators examine the money before they order its
 * return. Nobody has examined money that a partner returns, so the chain must show it.
 */
export async function checkReturn(deps: CheckDeps, connected: ConnectedChain, outgoing: Outgoing): Promise<Check> {
  // Only an operator can order the return of a float.
  if (outgoing.floatOwner !== null) return GOOD;
  const [unexpected] = await findUnexpected(deps.db.sql, [outgoing.id]);
  const isSame =
    unexpected?.state === 'returning' &&
    unexpected.network === outgoing.network &&
    unexpected.asset === outgoing.asset &&
    unexpected.amount === outgoing.amount;
  if (!isSame) return refused('it differs from the unexpected money that it returns');
  const own = await checkOwnLot(deps, connected, outgoing, unexpected);
  if (own.is !== 'good') return own;
  if (unexpected.recipient === null) return GOOD;
  if (unexpected.recipient !== outgoing.recipient || !isOwnReturn(deps, unexpected)) {
    return refused('it differs from the return that was requested');
  }
  const { paymentId } = unexpected;
  const merchants = paymentId === null ? [] : await findMerchantsOf(deps.db.sql, paymentId);
  if (paymentId === null || merchants.some((merchant) => merchant !== outgoing.merchantId)) {
    return refused('its payment belongs to another merchant');
  }
  const money = { unexpected, paymentId, paying: await findPayingItem(deps.db.sql, paymentId) };
  return unexpected.transactionHash === null
    ? checkDeposits(deps, connected, money)
    : checkLate(deps, connected, money);
}

/** Checks that a return of late money takes only the lot of that money, and that the chain shows the lot. Floats pay the rest. */
async function checkOwnLot(
  deps: CheckDeps,
  connected: ConnectedChain,
  outgoing: Outgoing,
  { lotId, paymentId, amount, fee }: UnexpectedMoney,
): Promise<Check> {
  const spends = await findSpendsBy(deps.db.sql, outgoing.id);
  if (spends.length === 0) return GOOD;
  const units = spends.reduce((sum, each) => sum + each.amount, 0n);
  const isOwn = paymentId !== null && spends.every(({ lot }) => lot === lotId);
  if (!isOwn || units > BigInt(amount) - BigInt(fee)) return refused('it takes lots that are not its own');
  return checkLots(deps, connected, { outgoing, paymentId, units });
}

/** Late money of a payment, and the item that paid the payment, if there is one. */
interface Late {
  readonly unexpected: UnexpectedMoney;
  readonly paymentId: string;
  readonly paying: StoredItem | undefined;
}

/**
 * Checks that the receipt contains an event of the late payment with these terms. The event of the item that paid the payment is not
 * accepted.
 */
async function checkLate(
  deps: CheckDeps,
  { chain }: ConnectedChain,
  { unexpected, paymentId, paying }: Late,
): Promise<Check> {
  const { transactionHash, logIndex, asset, amount, fee, account } = unexpected;
  const isMatch = (reported: ChainEvent) =>
    reported.type === 'paid' &&
    reported.logIndex === logIndex &&
    reported.asset === asset &&
    reported.amount === BigInt(amount) &&
    reported.fee === BigInt(fee) &&
    reported.commitment !== paying?.commitment &&
    isSameAddress(chain.network.chainId, reported.recipient, account) &&
    subjectOfEvent(deps, chain.payerSide, reported) === paymentId;
  const { finding } = await askWitnesses(chain.reader, async (witness) => {
    const receipt = await witness.receipt(transactionHash ?? '');
    return receipt && (receipt.events.some(isMatch) ? 'shown' : 'not shown');
  });
  if (!isEnough(deps, chain, finding, unexpected)) return UNCLEAR;
  return finding.value === 'shown' ? GOOD : refused('the chain shows no late payment with these terms');
}

/**
 * Checks a return of money that arrived at deposit addresses of a payment, for one asset, in two ways. First, the arrived money must
 * cover all returns, plus the amount that paid the payment, if it was paid at one of these addresses. Second, the fees of all returns
 * together must not exceed the fee of the arrived money: a sweep takes a fee, and the operator's float gives it back with a return. A
 * single return may exceed its own share of that fee, because sweeps round.
 */
async function checkDeposits(deps: CheckDeps, { chain }: ConnectedChain, { unexpected, paymentId, paying }: Late) {
  const { sql } = deps.db;
  const { network, asset } = unexpected;
  // Late money that an older version stored has no lot. It was held only if an item brought it, so held money without a lot did not come
  // to a deposit address.
  const isHeld = unexpected.isHeld && unexpected.lotId === null;
  const deposits = (await listDepositsOf(sql, paymentId)).filter((deposit) => isOwnDeposit(deps, deposit));
  if (isHeld || deposits.length === 0) return refused('it did not arrive at a deposit address of the payment');
  const isPaying = deposits.some(
    ({ commitment, asset: asked }) => commitment === paying?.commitment && asked === asset,
  );
  const needed = isPaying && paying?.network === network ? await paidBy(deps, paymentId, paying) : 0n;
  const returned = await sumReturned(sql, { paymentId, network, asset });
  const sweeps = await largestSweeps(deps, deposits, { network, asset });
  const block = (await findCursors(sql)).find((cursor) => cursor.network === network)?.finalNumber;
  if (block === undefined) return UNCLEAR;
  const { finding } = await askWitnesses(chain.reader, (witness) =>
    arrivedBy(witness, { deposits, sweeps, asset, block }),
  );
  // The result is unclear and not refused, because the gateway may have read the chain further than the endpoints of this node show.
  if (!isEnough(deps, chain, finding, unexpected) || BigInt(finding.value) < needed + returned.amount) return UNCLEAR;
  const arrived = BigInt(finding.value);
  const isFee = deposits.some(({ item }) => returned.fee <= mostFeesOf(item, arrived));
  return isFee ? GOOD : refused('the fees of its returns are more than those of a deposit address of the payment');
}

/**
 * The amount that paid the payment at its deposit address: the requested amount, or less within the tolerance of that time, which may
 * differ from the present tolerance. The amount is bounded by the largest tolerance, so that an attacker with write access to the
 * database cannot lower it further.
 */
async function paidBy({ db }: CheckDeps, paymentId: string, paying: StoredItem): Promise<bigint> {
  const [payment] = await findPayments(db.sql, [paymentId]);
  const paid = BigInt(payment?.tokenValue ?? paying.amount);
  const least = leastPaid(BigInt(paying.amount), MOST_TOLERANCE_BASIS_POINTS);
  return paid > least ? paid : least;
}

async function largestSweeps(
  { db }: CheckDeps,
  deposits: readonly OpenDeposit[],
  { network, asset }: { readonly network: string; readonly asset: string },
): Promise<readonly string[]> {
  const lists = await Promise.all(
    deposits.map(({ commitment }) => listDecidedSweeps(db.sql, { network, commitment, asset })),
  );
  const sweeps = lists
    .flat()
    .map(({ transactionHash, fields }) => ({ transactionHash, units: BigInt(fields.amount ?? '0') }));
  const largest = sweeps.toSorted((a, b) => Number(b.units > a.units) - Number(a.units > b.units));
  return [...new Set(largest.map(({ transactionHash }) => transactionHash))].slice(0, MAX_PROVED);
}

async function arrivedBy(
  witness: Witness,
  ask: {
    readonly deposits: readonly OpenDeposit[];
    readonly sweeps: readonly string[];
    readonly asset: string;
    readonly block: number;
  },
): Promise<string | undefined> {
  const { deposits, sweeps, asset, block } = ask;
  const own = new Set(deposits.map(({ commitment }) => commitment));
  const receipts = await Promise.all(sweeps.map((hash) => witness.receipt(hash)));
  if (receipts.some((receipt) => receipt === undefined)) return undefined;
  const swept = receipts
    .flatMap((receipt) => receipt?.events ?? [])
    .filter((reported) => reported.type === 'swept' && reported.asset === asset && own.has(reported.commitment))
    .reduce((sum, reported) => sum + (reported.type === 'swept' ? reported.amount : 0n), 0n);
  const addresses = [...new Set(deposits.map(({ address }) => address))];
  const held = await Promise.all(addresses.map((address) => witness.holding(address, asset, block)));
  return held.reduce((sum, units) => sum + units, swept).toString();
}

type Finding = Awaited<ReturnType<typeof askWitnesses<string>>>['finding'];

/** True if enough endpoints agree. A single endpoint is trusted only for small amounts. */
function isEnough(
  deps: RegistryDeps,
  { network }: Chain,
  finding: Finding,
  money: Pick<UnexpectedMoney, 'asset' | 'amount'>,
): finding is Extract<Finding, { readonly is: 'agreed' | 'alone' }> {
  return finding.is === 'agreed' || (finding.is === 'alone' && isSmall(deps, network, money));
}
