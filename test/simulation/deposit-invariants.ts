import { isFinal, type PaymentStatus } from '../../src/domain/payment.ts';
import { type DepositOnChain, depositsOnChain } from './deposits-on-chain.ts';
import type { Invariant } from './invariant.ts';
import { USDC } from './parties.ts';
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
      const other = sweeps.find((swept) => swept.recipient !== recipient || swept.fee !== (swept.amount * fee) / asked);
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
    check: async (stage) => {
      const rows = await stage.sql<{ objectId: string; amount: string }[]>`
        select object_id as "objectId", sum((evidence ->> 'amount')::numeric)::text as amount from events
        where type = 'payment.late_money' and evidence ? 'total' and evidence ->> 'asset' = ${USDC} group by object_id`;
      const named = new Map(rows.map(({ objectId, amount }) => [objectId, BigInt(amount)]));
      return findDeposit(({ paymentId, arrived, asked, itemState }) => {
        const other = arrived - (itemState === 'paid' ? asked : 0n);
        const told = named.get(paymentId) ?? 0n;
        return other > 0n && told !== other ? `got ${other} that it did not need, and ${told} was named` : undefined;
      })(stage);
    },
  },
  {
    name: 'swept money is kept for its merchant',
    promise:
      'Money that was swept to the intermediate account is held, was paid out or refunded, or is a float of the merchant.',
    when: 'atEnd',
    find: (sql) => sql`
          select d.payment_id || ' had ' || s.net || ' swept, and ' || k.units || ' is accounted for' as problem
          from deposits d join items i on i.commitment = d.commitment
          join lateral (
            select coalesce(sum((c.fields ->> 'amount')::numeric - (c.fields ->> 'fee')::numeric), 0) as net
            from chain_events c
            where c.network = d.network and c.commitment = d.commitment and c.type = 'swept' and c.problem is null
              and c.fields ->> 'asset' = d.asset) s on true
          join lateral (
            select coalesce((select case when o.state in ('refunding', 'refunded') then 0 else o.amount end
                from payouts o where o.payment_id = d.payment_id), 0)
              + coalesce((select sum(r.from_held) from refunds r where r.payment_id = d.payment_id), 0)
              + coalesce((select sum(f.units) from float_changes f
                where f.subject = d.payment_id and f.kind = 'added' and f.asset = d.asset), 0) as units) k on true
          where i.is_held and i.state = 'paid' and s.net <> k.units order by 1 limit 1`,
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
