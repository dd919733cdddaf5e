import { isFinal, type PaymentStatus } from '../../src/domain/payment.ts';
import { type DepositOnChain, depositsOnChain } from './deposits-on-chain.ts';
import type { Invariant } from './invariant.ts';
import type { Stage } from './stage.ts';

/** The promises about deposit addresses. "one address" is checked at every answer (`depositing.ts`). */
export const DEPOSIT_INVARIANTS: readonly Invariant[] = [
  {
    name: 'paid at most once',
    promise: 'A payment is paid by one item at most, however many ways to pay it were used.',
    when: 'always',
    about: ['items'],
    find: (sql) => sql`
          select subject || ' was paid by ' || count(*) || ' items' as problem from items
          where purpose = 'payment' and state = 'paid' and end_reason is null and method not like 'deposit-%'
          group by subject having count(*) > 1 order by subject limit 1`,
  },
  {
    name: 'one open sweep',
    promise: 'A deposit address has one sweep of a token at a time.',
    when: 'always',
    about: ['items'],
    find: (sql) => sql`
          select payer || ' has ' || count(*) || ' open sweeps' as problem from items
          where purpose = 'sweep' and state in ('due', 'sent') group by payer, asset having count(*) > 1
          order by payer limit 1`,
  },
  {
    name: 'enough in time pays',
    promise: 'A payment is paid by its deposit address exactly if enough final money came in time.',
    when: 'atEnd',
    check: findDeposit(({ inTime, asked, status, itemState }) => {
      if (itemState === 'paid' && inTime < asked) return `was paid with ${inTime} of ${asked}`;
      const isOver = status === 'succeeded' || status === 'cancelled';
      return inTime >= asked && !isOver ? `is ${status}, and ${inTime} of ${asked} came in time` : undefined;
    }),
  },
  {
    name: 'deposits go where they belong',
    promise:
      'Money at a deposit address goes to the recipient and the fee account by the terms of the address, all of it.',
    when: 'atEnd',
    check: findDeposit(({ sweeps, arrived, left, fee, asked, recipient, status }) => {
      // More than was asked bears no more than the asked fee.
      const feeOf = (amount: bigint) => (amount >= asked ? fee : (amount * fee) / asked);
      const other = sweeps.find((swept) => swept.recipient !== recipient || swept.fee !== feeOf(swept.amount));
      if (other !== undefined) return `was swept with other terms by ${other.transactionHash}`;
      const swept = sweeps.reduce((sum, { amount }) => sum + amount, 0n);
      if (swept + left !== arrived) return `got ${arrived}, of which ${swept} was swept and ${left} is left`;
      return left > 0n && isFinal(status as PaymentStatus) ? `is ${status}, and ${left} was not swept` : undefined;
    }),
  },
  {
    name: 'deposits are known',
    promise: 'The database has every amount that came to a deposit address, and every amount that was swept.',
    when: 'atEnd',
    check: findDeposit(({ stored, arrived, sweeps }) => {
      const swept = sweeps.reduce((sum, { amount }) => sum + amount, 0n);
      const isKnown = stored.arrived === arrived && stored.swept === swept;
      return isKnown
        ? undefined
        : `got ${arrived}, swept ${swept}; the database has ${stored.arrived} and ${stored.swept}`;
    }),
  },
  {
    name: 'other money is named',
    promise: 'Money that a payment did not need is named to the partner, once and in full.',
    when: 'atEnd',
    check: findDeposit(({ stored, arrived, asked, itemState }) => {
      const other = arrived - (itemState === 'paid' ? asked : 0n);
      const isNamed = other <= 0n || stored.reported === other;
      return isNamed ? undefined : `got ${other} that it did not need, and ${stored.reported} was named`;
    }),
  },
  {
    name: 'unexpected money is told',
    promise: 'Each lot that a payment did not need has one event.',
    when: 'atEnd',
    find: (sql) => sql`
          select s.id || ' of ' || s.payment_id || ' has ' || count(e.*) || ' events' as problem
          from strays s left join events e
            on e.object_id = s.payment_id and e.type = 'payment.late_money' and e.evidence ->> 'stray' = s.id
          where s.lot_id is not null group by s.id, s.payment_id having count(e.*) <> 1 order by 1 limit 1`,
  },
  {
    name: 'swept money is kept for its merchant',
    promise: 'Every unit that was swept to the intermediate account belongs to a lot of its payment.',
    when: 'atEnd',
    find: (sql) => sql`
          select d.payment_id || ' had ' || s.net || ' swept, and ' || k.units || ' is in lots' as problem
          from deposits d
          join lateral (
            select coalesce(sum((c.fields ->> 'amount')::numeric - (c.fields ->> 'fee')::numeric), 0) as net
            from chain_events c
            where c.network = d.network and c.commitment = d.commitment and c.type = 'swept' and c.problem is null
              and c.fields ->> 'asset' = d.asset) s on true
          join lateral (
            select coalesce(sum(l.net), 0) as units from lots l
            where l.network = d.network and l.commitment = d.commitment and l.asset = d.asset) k on true
          where s.net <> k.units order by 1 limit 1`,
  },
  {
    name: 'lots are spent once',
    promise: 'Payouts, refunds and returns together take no more of a lot than reached the account.',
    when: 'atEnd',
    find: (sql) => sql`
          select s.lot_id || ' has ' || coalesce(max(l.net), 0) || ', and ' || sum(s.units) || ' was taken' as problem
          from lot_spends s left join lots l on l.id = s.lot_id
          group by s.lot_id having sum(s.units) > coalesce(max(l.net), 0) order by 1 limit 1`,
  },
];

/** Looks at every deposit address as the chain shows it. */
function findDeposit(
  problemOf: (deposit: DepositOnChain) => string | undefined,
): (stage: Stage) => Promise<string | undefined> {
  return async (stage) => {
    for (const deposit of await depositsOnChain(stage)) {
      const problem = problemOf(deposit);
      if (problem !== undefined) return `${deposit.paymentId} ${problem}`;
    }
    return undefined;
  };
}
