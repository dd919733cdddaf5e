import type { ChainEvent } from '../../chains/chain.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import { isSmall } from '../../chains/finality.ts';
import { ACCOUNTS } from '../../domain/books.ts';
import { paymentIdOf } from '../../domain/ids.ts';
import { findPaidEvent, listDecidedSweeps, type StoredEvent } from '../../store/chain/chain-events.ts';
import { findDeposit } from '../../store/chain/deposits.ts';
import { findPayingItem, type StoredItem } from '../../store/chain/items.ts';
import { findMerchantsOf } from '../../store/events/events.ts';
import { positionsOf } from '../../store/money/books.ts';
import type { Outgoing } from '../../store/money/outgoing.ts';
import { findPayout } from '../../store/money/payouts.ts';
import { findRefundsOf, type Refund } from '../../store/money/refunds.ts';
import { findStrays } from '../../store/money/strays.ts';
import type { CommandDeps } from '../command.ts';
import { subjectOfEvent } from '../event-subject.ts';
import { hear } from '../evidence.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import type { SubjectKeyDeps } from '../subject-keys.ts';
import { type Check, GOOD, refused, UNCLEAR } from './check.ts';
import { isOrdered } from './order-outgoing.ts';
import { isOwnRefund } from './refund/refund-rows.ts';
import { checkReturn } from './stray/check-return.ts';
import { isGasMoney } from './stray/stray-entries.ts';

/** The Collector's report that an item was carried out. */
type PaidEvent = Extract<ChainEvent, { type: 'paid' }>;

type CheckDeps = Pick<CommandDeps, 'db'> & RowKeyDeps & SubjectKeyDeps;

/**
 * Checks a transfer before it is signed. Write access to the database must not be enough to spend money: the order
 * carries a MAC, its reason has the same terms, the books have set the amount aside and not paid it yet, and the chain
 * shows the payment that the money came by.
 */
export async function checkOutgoing(deps: CheckDeps, connected: ConnectedChain, outgoing: Outgoing): Promise<Check> {
  if (!isOrdered(deps, outgoing)) return refused('its row was not written by this gateway, or was changed');
  const isBooked = await isSetAside(deps, outgoing);
  if (!isBooked) return refused('the books have not set this amount aside for it, or have paid it before');
  if (outgoing.purpose === 'return') return checkReturn(deps, connected, outgoing);
  if (outgoing.purpose === 'payout') {
    const isPayable = await isHeld(deps, outgoing);
    if (!isPayable) return refused('it differs from the amount that is held');
    return checkPayment(deps, connected, outgoing, (event) => isPaidOutOf(event, outgoing));
  }
  const refunds = await findRefundsOf(deps.db.sql, [paymentIdOf(outgoing.id)]);
  const refund = refunds.find(({ id }) => id === outgoing.id);
  if (!isRefund(refund, outgoing)) return refused('it differs from the refund that was requested');
  // Only a request can name another recipient than the payer, and its row then carries the MAC.
  const isRedirected = refund !== undefined && isOwnRefund(deps, refund);
  const sent = refunds.filter(({ state }) => state === 'sending' || state === 'refunded');
  const total = sent.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return checkPayment(
    deps,
    connected,
    outgoing,
    (event) => total <= event.amount && (isRedirected || isSame(event.payer, outgoing.recipient)),
  );
}

/** The amount must be on its way in the books: neither arrived nor given up. */
async function isSetAside({ db }: CheckDeps, { id, payer, amount, purpose }: Outgoing): Promise<boolean> {
  const lines = (await positionsOf(db.sql, [id])).get(id) ?? [];
  const ways: readonly string[] = [ACCOUNTS.outgoing, ACCOUNTS.relayerOutgoing(payer)];
  if (lines.some(({ account, units }) => ways.includes(account) && units === BigInt(amount))) return true;
  const [stray] = purpose === 'return' ? await findStrays(db.sql, [id]) : [];
  // Tokens on a relayer's account belong to nobody in the books.
  return stray !== undefined && !stray.isBooked && !isGasMoney(stray) && stray.state === 'returning';
}

async function isHeld({ db }: CheckDeps, outgoing: Outgoing): Promise<boolean> {
  const payout = await findPayout(db.sql, paymentIdOf(outgoing.id));
  return (
    payout?.state === 'sending' &&
    payout.network === outgoing.network &&
    payout.asset === outgoing.asset &&
    payout.account === outgoing.payer &&
    payout.amount === outgoing.amount &&
    payout.merchantId === outgoing.merchantId
  );
}

function isRefund(refund: Refund | undefined, outgoing: Outgoing): boolean {
  return (
    refund?.state === 'sending' &&
    refund.network === outgoing.network &&
    refund.asset === outgoing.asset &&
    refund.account === outgoing.payer &&
    refund.recipient === outgoing.recipient &&
    refund.amount === outgoing.amount &&
    refund.merchantId === outgoing.merchantId
  );
}

/** The net amount arrived at the account that pays it out. */
function isPaidOutOf(event: PaidEvent, { payer, amount }: Outgoing): boolean {
  return isSame(event.recipient, payer) && BigInt(amount) <= event.amount - event.fee;
}

/** Asks the chain for the payment, which must be the reason for the transfer. */
async function checkPayment(
  deps: CheckDeps,
  { chain }: ConnectedChain,
  outgoing: Outgoing,
  isReason: (event: PaidEvent) => boolean,
): Promise<Check> {
  const { db } = deps;
  const paymentId = paymentIdOf(outgoing.id);
  const isOfPayment = (event: ChainEvent): event is PaidEvent =>
    event.type === 'paid' && event.asset === outgoing.asset && subjectOfEvent(deps, chain, event) === paymentId;
  const merchants = await findMerchantsOf(db.sql, paymentId);
  if (merchants.some((merchant) => merchant !== outgoing.merchantId)) {
    return refused('its payment belongs to another merchant');
  }
  const item = await findPayingItem(db.sql, paymentId);
  const deposit = await findDeposit(db.sql, { paymentId, asset: outgoing.asset });
  if (deposit !== undefined && (item === undefined || item.commitment === deposit.commitment)) {
    return checkSweeps({ db }, chain, outgoing, deposit.item);
  }
  const event = item && (await findPaidEvent(db.sql, item));
  if (event === undefined) return refused('no event on the chain is known that paid its payment');
  const { finding } = await hear(chain, async (witness) => {
    const receipt = await witness.receipt(event.transactionHash);
    return receipt && (receipt.events.some((told) => isOfPayment(told) && isReason(told)) ? 'shown' : 'not shown');
  });
  const isEnough = finding.is === 'agreed' || (finding.is === 'alone' && isSmall(chain.network, outgoing));
  if (!isEnough) return UNCLEAR;
  return finding.value === 'shown' ? GOOD : refused('the chain shows no payment with these terms');
}

/** The same for money that came by a deposit address: its sweeps must have brought at least as much. */
async function checkSweeps(
  { db }: Pick<CheckDeps, 'db'>,
  chain: ConnectedChain['chain'],
  outgoing: Outgoing,
  { commitment, network, recipient }: StoredItem,
): Promise<Check> {
  const isPayout = outgoing.purpose === 'payout';
  if (isPayout && !isSame(recipient, outgoing.payer)) return refused('its payment was not swept to this account');
  const events = await listDecidedSweeps(db.sql, { network, commitment, asset: outgoing.asset });
  const hashes = sufficient(events, BigInt(outgoing.amount), isPayout);
  const { finding } = await hear(chain, async (witness) => {
    const receipts = await Promise.all(hashes.map((hash) => witness.receipt(hash)));
    if (receipts.some((receipt) => receipt === undefined)) return undefined;
    const sweeps = receipts.flatMap((receipt) => receipt?.events ?? []).filter((told) => told.type === 'swept');
    return sweeps
      .filter((told) => told.commitment === commitment && told.asset === outgoing.asset)
      .reduce((sum, { amount, fee }) => sum + (isPayout ? amount - fee : amount), 0n)
      .toString();
  });
  const isEnough = finding.is === 'agreed' || (finding.is === 'alone' && isSmall(chain.network, outgoing));
  // The money may still be at the address. It is swept soon.
  if (!isEnough || BigInt(finding.value) < BigInt(outgoing.amount)) return UNCLEAR;
  return GOOD;
}

/** The transactions of the largest sweeps that make up the amount. A stranger may have swept single units, thousands of times. */
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

function isSame(told: string, stored: string): boolean {
  return told.toLowerCase() === stored.toLowerCase();
}
