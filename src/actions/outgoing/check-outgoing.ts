import type { ChainEvent } from '../../chains/chain.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import { isSmall } from '../../chains/finality.ts';
import { ACCOUNTS } from '../../domain/books.ts';
import { idBytes, paymentIdOf } from '../../domain/ids.ts';
import { findPaidEvent } from '../../store/chain/chain-events.ts';
import { findPayingItem } from '../../store/chain/items.ts';
import { findMerchantsOf } from '../../store/events/events.ts';
import { positionsOf } from '../../store/money/books.ts';
import type { Outgoing } from '../../store/money/outgoing.ts';
import { findPayout } from '../../store/money/payouts.ts';
import { findRefund } from '../../store/money/refunds.ts';
import { findStrays } from '../../store/money/strays.ts';
import type { CommandDeps } from '../command.ts';
import { hear } from '../evidence.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { isOrdered } from './order-outgoing.ts';
import { isGasMoney } from './stray/stray-entries.ts';

/** The result of a check. While too few endpoints can be asked it is unclear. */
export type Check = { readonly is: 'good' } | { readonly is: 'unclear' } | Refused;

interface Refused {
  readonly is: 'refused';
  readonly problem: string;
}

type CheckDeps = Pick<CommandDeps, 'db'> & RowKeyDeps;

const GOOD = { is: 'good' } as const;
const UNCLEAR = { is: 'unclear' } as const;
const refused = (problem: string): Refused => ({ is: 'refused', problem });

/**
 * Checks a transfer before it is signed. Write access to the database must not be enough to spend money: the order
 * carries a MAC, its reason has the same terms, the books have set the amount aside and not paid it yet, and the chain
 * shows the payment that the money came by.
 */
export async function checkOutgoing(deps: CheckDeps, connected: ConnectedChain, outgoing: Outgoing): Promise<Check> {
  if (!isOrdered(deps, outgoing)) return refused('its row was not written by this gateway, or was changed');
  const isBooked = await isSetAside(deps, outgoing);
  if (!isBooked) return refused('the books have not set this amount aside for it, or have paid it before');
  if (outgoing.purpose === 'return') return checkReturn(deps, outgoing);
  const hasReason = outgoing.purpose === 'payout' ? await isHeld(deps, outgoing) : await isRefund(deps, outgoing);
  return hasReason
    ? checkPayment(deps, connected, outgoing)
    : refused(`it differs from the ${REASONS[outgoing.purpose]}`);
}

const REASONS = { payout: 'amount that is held', refund: 'refund that was requested' } as const;

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

async function isRefund({ db }: CheckDeps, outgoing: Outgoing): Promise<boolean> {
  const refund = await findRefund(db.sql, outgoing.id);
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

async function checkReturn({ db }: CheckDeps, outgoing: Outgoing): Promise<Check> {
  // A float is given back by an order of the operator alone.
  if (outgoing.floatOwner !== null) return GOOD;
  const [stray] = await findStrays(db.sql, [outgoing.id]);
  const isSame =
    stray?.state === 'returning' &&
    stray.network === outgoing.network &&
    stray.asset === outgoing.asset &&
    stray.amount === outgoing.amount;
  return isSame ? GOOD : refused('it differs from the stray that it returns');
}

/** Asks the chain for the payment: a payout must not exceed what it brought, a refund must go back to its payer. */
async function checkPayment({ db }: CheckDeps, { chain }: ConnectedChain, outgoing: Outgoing): Promise<Check> {
  const paymentId = paymentIdOf(outgoing.id);
  const merchants = await findMerchantsOf(db.sql, paymentId);
  if (merchants.some((merchant) => merchant !== outgoing.merchantId)) {
    return refused('its payment belongs to another merchant');
  }
  const item = await findPayingItem(db.sql, paymentId);
  const event = item && (await findPaidEvent(db.sql, item));
  if (event === undefined) return refused('no event on the chain is known that paid its payment');
  const { finding } = await hear(chain, async (witness) => {
    const receipt = await witness.receipt(event.transactionHash);
    return receipt && (receipt.events.some((told) => isReasonFor(told, outgoing, paymentId)) ? 'shown' : 'not shown');
  });
  const isEnough = finding.is === 'agreed' || (finding.is === 'alone' && isSmall(chain.network, outgoing));
  if (!isEnough) return UNCLEAR;
  return finding.value === 'shown' ? GOOD : refused('the chain shows no payment with these terms');
}

function isReasonFor(event: ChainEvent, outgoing: Outgoing, paymentId: string): boolean {
  if (event.type !== 'paid' || event.asset !== outgoing.asset) return false;
  if (event.subject.replace(/^0x/, '') !== Buffer.from(idBytes(paymentId)).toString('hex')) return false;
  const isSame = (told: string, stored: string) => told.toLowerCase() === stored.toLowerCase();
  const amount = BigInt(outgoing.amount);
  return outgoing.purpose === 'payout'
    ? isSame(event.recipient, outgoing.payer) && amount <= event.amount - event.fee
    : isSame(event.payer, outgoing.recipient) && amount <= event.amount;
}
