import { weightOf } from '../../src/chains/weight.ts';
import { PUBLIC_EVENT_TYPES } from '../../src/domain/event.ts';
import { isFinal, type PaymentStatus } from '../../src/domain/payment.ts';
import { readEvents } from '../../src/store/events/events.ts';
import { REGISTRY } from '../registry.ts';
import { CONSERVATION_INVARIANTS } from './conservation.ts';
import { DEPOSIT_INVARIANTS } from './deposit-invariants.ts';
import { findUnfollowed } from './event-follower.ts';
import type { Invariant } from './invariant.ts';
import { OPEN_ITEMS_PER_PAYER, OUTGOING_PER_HOUR } from './node.ts';
import { SELLING_INVARIANTS } from './selling-invariants.ts';
import type { PaidEvent, Stage } from './stage.ts';
import { X402_INVARIANTS } from './x402-invariants.ts';

/**
 * The promises of the gateway, with those of `conservation.ts`, `deposit-invariants.ts`, `selling-invariants.ts` and `x402-invariants.ts`.
 *
 * Some promises are checked where they can be broken: "sends are journalled" at every broadcast (`stage.ts`), "rings follow
 * commits" at every commit (`rings.ts`), "webhooks are genuine" at every webhook (`receivers.ts`), "answers are true", "one address", "x402 answers
 * are true" and "no answer is an internal error" at every answer (`shopping.ts`, `depositing.ts`, `x402-paying.ts`, `requests.ts`).
 */
export const INVARIANTS: readonly Invariant[] = [
  {
    name: 'final states stay',
    promise: 'A payment that has succeeded, failed, expired or been cancelled never changes its status again.',
    when: 'always',
    about: ['payments'],
    check: async ({ sql, seen }) => {
      const rows = await sql<{ id: string; status: PaymentStatus; version: number }[]>`
        select id, status, version from payments order by id`;
      for (const { id, status, version } of rows) {
        const before = seen.get(id);
        if (before !== undefined && isFinal(before.status as PaymentStatus) && before.status !== status) {
          return `${id} was ${before.status} and is ${status}`;
        }
        if (before !== undefined && version < before.version) return `${id} went back to version ${version}`;
        seen.set(id, { status, version });
      }
      return undefined;
    },
  },
  {
    name: 'one terminal event',
    promise: 'A payment has exactly one event of its final status, and none of another final status.',
    when: 'always',
    about: ['payments', 'events'],
    find: (sql) => sql`
          select p.id || ' is ' || p.status || ' and has ' || count(e.*) filter (where e.type = 'payment.' || p.status)
            || ' such events and ' || count(e.*) filter (where e.type <> 'payment.' || p.status) || ' others' as problem
          from payments p left join events e on e.object_id = p.id
            and e.type in ('payment.succeeded', 'payment.failed', 'payment.expired', 'payment.cancelled')
          group by p.id, p.status
          having count(e.*) filter (where e.type = 'payment.' || p.status)
              <> (p.status in ('succeeded', 'failed', 'expired', 'cancelled'))::int
            or count(e.*) filter (where e.type <> 'payment.' || p.status) > 0
          order by p.id limit 1`,
  },
  {
    name: 'events without gaps',
    promise: 'The events of an object are numbered from 1 without a gap.',
    when: 'always',
    about: ['events'],
    find: (sql) => sql`
          select object_id || ' has ' || count(*) || ' events up to ' || max(sequence) as problem
          from events group by object_id having count(*) <> max(sequence) order by object_id limit 1`,
  },
  {
    name: 'versions match events',
    promise: 'Every move of a payment has its event: the version of a payment counts its events after the first.',
    when: 'always',
    about: ['payments', 'events'],
    find: (sql) => sql`
          select p.id || ' has version ' || p.version || ' and ' || count(e.*) || ' events' as problem
          from payments p left join events e on e.object_id = p.id
          group by p.id, p.version having count(e.*) <> p.version + 1 order by p.id limit 1`,
  },
  {
    name: 'consumers miss nothing',
    promise: 'A consumer that reads events by position sees every event once, and those of an object in order.',
    when: 'always',
    about: ['event_batches'],
    check: async ({ sql, consumed }) => {
      for (const event of await readEvents(sql, { after: consumed.after, limit: 1_000 })) {
        if (consumed.ids.has(event.id)) return `${event.id} was read twice`;
        const last = consumed.sequences.get(event.objectId) ?? 0;
        if (event.sequence !== last + 1) {
          return `event ${event.sequence} of ${event.objectId} was read after event ${last}`;
        }
        consumed.ids.add(event.id);
        consumed.sequences.set(event.objectId, event.sequence);
        consumed.after = event.position;
      }
      const rows = await sql<{ count: number }[]>`select coalesce(sum(size), 0)::int as count from event_batches`;
      const placed = rows[0]?.count ?? 0;
      return placed === consumed.ids.size ? undefined : `${placed} events were placed, ${consumed.ids.size} were read`;
    },
  },
  {
    name: 'fencing numbers grow',
    promise: 'A former leaseholder never takes a slot or moves a cursor after its successor has.',
    when: 'always',
    about: ['relay_sends', 'chain_cursors'],
    check: async ({ sql, fencing }) => {
      const rows = await sql<{ subject: string; number: number }[]>`
        select 'the cursor of ' || network as subject, fencing::int as number from chain_cursors
        union all
        select * from (select distinct on (network, signer) 'the newest slot of ' || signer || ' on ' || network, fencing::int
          from relay_sends order by network, signer, slot desc) as newest`;
      for (const { subject, number } of rows) {
        const before = fencing.get(subject) ?? 0;
        if (number < before) return `${subject} has fencing number ${number} after ${before}`;
        fencing.set(subject, number);
      }
      return undefined;
    },
  },
  {
    name: 'one send per item',
    promise: 'An item is in at most one transaction that is on its way.',
    when: 'always',
    about: ['relay_sends'],
    find: (sql) => sql`
          select i.commitment || ' is in ' || count(*) || ' open sends' as problem
          from relay_items i join relay_sends s using (network, signer, slot) where s.state = 'open'
          group by i.commitment having count(*) > 1 order by i.commitment limit 1`,
  },
  {
    name: 'sent items have a send',
    promise: 'An item that counts as sent is in a transaction of the journal.',
    when: 'always',
    about: ['items', 'relay_sends'],
    find: (sql) => sql`
          select commitment || ' counts as sent, and no send has it' as problem from items i
          where state = 'sent' and not exists (select from relay_items s where s.commitment = i.commitment)
          order by 1 limit 1`,
  },
  {
    name: 'payers keep their limit',
    promise: `A payer never has more than ${OPEN_ITEMS_PER_PAYER} open items on a network.`,
    when: 'always',
    about: ['items'],
    find: (sql) => sql`
          select payer || ' has ' || count(*) || ' open items' as problem from items
          where purpose = 'payment' and state in ('due', 'sent')
          group by network, payer having count(*) > ${OPEN_ITEMS_PER_PAYER} order by payer limit 1`,
  },
  {
    name: 'one signature per transfer',
    promise:
      'A payout, refund or return is never signed again while an earlier signature can still be used. The money of an address has one sweep at a time.',
    when: 'always',
    about: ['items'],
    find: (sql) => sql`
          select subject || ' has ' || count(*) || ' open items' as problem from items
          where purpose <> 'payment' and state in ('due', 'sent')
          group by subject, case when purpose = 'sweep' then payer || asset end having count(*) > 1
          order by subject limit 1`,
  },
  {
    name: 'transfers keep their limit',
    promise: `No more than ${OUTGOING_PER_HOUR} tokens of an asset are signed away within an hour.`,
    when: 'atEnd',
    check: async ({ sql }) => {
      const rows = await sql<{ asset: string; units: string }[]>`
        select asset, max(units)::text as units from (
          select asset, sum(amount) over (
            partition by asset order by begun_at range between interval '59 minutes' preceding and current row) as units
          from outgoing where begun_at is not null) as windows
        group by asset order by asset`;
      const over = rows.find(({ asset, units }) => weightOf(REGISTRY.asset(asset), BigInt(units)) > OUTGOING_PER_HOUR);
      return over && `${over.units} units of ${over.asset} were signed away within an hour`;
    },
  },
  {
    name: 'held money leaves once',
    promise: 'Payouts, refunds and returns together take no more of a lot than there was, and each takes its amount.',
    when: 'always',
    about: ['refunds', 'outgoing'],
    find: (sql) => sql`
          select l.id || ' has ' || l.net || ', and orders took ' || s.units as problem
          from lots l join (select lot_id, sum(units) as units from lot_spends group by 1) s on s.lot_id = l.id
          where s.units > l.net
          union all
          select o.id || ' of ' || o.amount || ' took ' || s.units
          from outgoing o
          join lateral (select coalesce(sum(x.units), 0) as units from lot_spends x where x.order_id = o.id) s on true
          where o.purpose = 'payout' and s.units <> case when o.state = 'failed' then 0 else o.amount end
          union all
          select r.id || ' took ' || s.units || ' in place of ' || r.from_held
          from refunds r
          join lateral (select coalesce(sum(x.units), 0) as units from lot_spends x where x.order_id = r.id) s on true
          where s.units <> r.from_held
          limit 1`,
  },
  {
    name: 'refunds stay within their payment',
    promise: 'All refunds of a payment together give back at most its price, its amount and its fee.',
    when: 'always',
    find: (sql) => sql`
          select i.subject || ' has refunds of ' || sum(r.amount) || ' for ' || i.amount as problem
          from refunds r join items i on i.subject = r.payment_id and i.purpose = 'payment' and i.state = 'paid' and i.end_reason is null
            and i.method not like 'deposit-%'
          join payments p on p.id = r.payment_id
          where r.problem is distinct from 'not_left' and r.problem is distinct from 'vetoed'
          group by i.subject, i.amount, i.fee, p.amount_value
          having sum(r.amount) > i.amount or sum(r.fee) > i.fee or sum(r.price_value) > p.amount_value
          order by 1 limit 1`,
  },
  {
    name: 'freezes hold',
    promise: 'After a freeze of a merchant was answered, no signature for it is accepted until it is lifted.',
    when: 'always',
    about: ['items'],
    check: async ({ sql, frozen }) => {
      for (const [merchantId, before] of frozen) {
        const count = await countAccepted(sql, merchantId);
        if (count !== before) return `${count - before} signatures were accepted for ${merchantId}`;
      }
      return undefined;
    },
  },
  {
    name: 'strangers freeze nothing',
    promise: 'The database was never restored and our keys are our own: no event makes the gateway think otherwise.',
    when: 'always',
    about: ['chain_cursors'],
    check: async ({ sql }) =>
      (await sql<{ reason: string }[]>`select reason from freezes where scope = 'restored'`)[0]?.reason,
  },
  {
    name: 'one payment per key',
    promise: 'Requests with the same Idempotency-Key make one payment.',
    when: 'always',
    about: ['payments'],
    find: (sql) => sql`
          select count(*) || ' payments for ' || reference_id as problem from payments where link_id is null
          group by reference_id having count(*) > 1 order by reference_id limit 1`,
  },
  {
    name: 'every payment ends',
    promise: 'When the last deadline is final on its chain, no payment is left in requires_action or processing.',
    when: 'atEnd',
    find: (sql) => sql`
          select id || ' is still ' || status as problem from payments
          where status in ('requires_action', 'processing') order by id limit 1`,
  },
  {
    name: 'at most one transfer',
    promise: 'The chain carries out at most one signed transfer for a payment, a payout, a refund.',
    when: 'atEnd',
    check: async (stage) => {
      const rows = await stage.sql<{ subject: string; isSigned: boolean }[]>`
        select subject, bool_and(method <> 'native') as "isSigned" from items group by subject order by subject`;
      for (const { subject, isSigned } of rows) {
        const paid = await stage.paidOnChain(subject);
        if (isSigned && paid.length > 1) return `${subject} was carried out ${paid.length} times`;
      }
      return undefined;
    },
  },
  {
    name: 'states equal the chain',
    promise:
      'A payment has succeeded exactly if the chain shows its transfer, in full and to the right account or address.',
    when: 'atEnd',
    check: async (stage) => {
      const rows = await stage.sql<{ id: string; status: string; hash: string | null }[]>`
        select id, status, transaction_hash as hash from payments order by id`;
      for (const { id, status, hash } of rows) {
        const paid = await stage.paidOnChain(id);
        // The commitment covers the amount and the recipient.
        const offered = await stage.sql<{ commitment: string }[]>`select commitment from items where subject = ${id}`;
        const commitments = new Set(offered.map(({ commitment }) => commitment));
        const isShown = paid.some((event) => event.transactionHash === hash && commitments.has(event.commitment));
        if (status === 'succeeded' && !isShown && !(await stage.isPaidOnChain(id)))
          return `${id} has succeeded without a transfer on the chain`;
        const items = await stage.sql<{ count: number }[]>`
          select count(*)::int as count from items where subject = ${id} and method <> 'native'
            and commitment = any(${paid.map(({ commitment }) => commitment)}::text[])`;
        if (status !== 'succeeded' && (items[0]?.count ?? 0) > 0) return `${id} is ${status} and its money was taken`;
      }
      return undefined;
    },
  },
  {
    name: 'outgoing equals the chain',
    promise: 'A payout or refund is paid exactly if the chain shows its transfer, and none is left on its way.',
    when: 'atEnd',
    check: async (stage) => {
      // A transfer above the hourly limit waits for longer than a run.
      const rows = await stage.sql<{ id: string; state: string; amount: string; recipient: string }[]>`
        select id, state, amount, recipient from outgoing where problem is distinct from 'limited' order by id`;
      for (const { id, state, amount, recipient } of rows) {
        const paid = await stage.paidOnChain(id);
        if (state === 'sending') return `${id} is still on its way`;
        if ((state === 'paid') !== (paid.length === 1)) {
          return `${id} is ${state}, and the chain shows ${paid.length} transfers`;
        }
        const isOther = (event: PaidEvent) => event.amount !== BigInt(amount) || event.recipient !== recipient;
        if (paid.some(isOther)) return `${id} went to another account, or with another amount`;
      }
      return undefined;
    },
  },
  {
    name: 'merchants keep their credit',
    promise: 'The net amount of a payment to the intermediate account is held until it is paid out or refunded.',
    when: 'atEnd',
    find: (sql) => sql`
          select p.id || ' has paid ' || i.amount - i.fee || ', and ' || coalesce(l.net::text, 'nothing') || ' is its lot'
            as problem
          from items i join payments p on p.id = i.subject
          left join lots l on l.id = i.network || '/' || i.commitment || '/0' and l.is_held and l.is_paying
          where i.purpose = 'payment' and i.method not like 'deposit%' and i.is_held and i.state = 'paid' and i.end_reason is null
            and p.status = 'succeeded' and l.net is distinct from i.amount - i.fee
          order by p.id limit 1`,
  },
  {
    name: 'answers stay true',
    promise: 'The last final status that a client was told is the status of the payment.',
    when: 'atEnd',
    check: async ({ sql, reported }) => {
      const rows = await sql<{ id: string; status: string }[]>`select id, status from payments order by id`;
      const wrong = rows.find(({ id, status }) => (reported.get(id)?.status ?? status) !== status);
      return wrong && `${wrong.id} is ${wrong.status}, and a client was told ${reported.get(wrong.id)?.status}`;
    },
  },
  {
    name: 'created means stored',
    promise: 'A payment whose creation was answered exists.',
    when: 'atEnd',
    check: async ({ sql, created }) => {
      const rows = await sql<{ id: string }[]>`select id from payments`;
      const ids = new Set(rows.map(({ id }) => id));
      return [...created.values()].find((id) => !ids.has(id));
    },
  },
  {
    name: 'followers miss nothing',
    promise: 'A program that follows the feed of the API gets every event once, and those of an object in order.',
    when: 'atEnd',
    check: findUnfollowed,
  },
  {
    name: 'receivers miss nothing',
    promise: 'Every event reaches every webhook endpoint that is subscribed to it, at least once.',
    when: 'atEnd',
    check: findUndelivered,
  },
  {
    name: 'events are placed',
    promise: 'Every event gets a position.',
    when: 'atEnd',
    check: async ({ sql, consumed }) => {
      const rows = await sql<{ count: number }[]>`select count(*)::int as count from events`;
      const count = rows[0]?.count ?? 0;
      return count === consumed.ids.size ? undefined : `${count} events were written, ${consumed.ids.size} were read`;
    },
  },
  ...CONSERVATION_INVARIANTS,
  ...DEPOSIT_INVARIANTS,
  ...SELLING_INVARIANTS,
  ...X402_INVARIANTS,
];

/** The first event that a subscribed receiver did not accept. */
async function findUndelivered({ sql, receivers }: Stage): Promise<string | undefined> {
  const events = await sql<{ id: string; type: string; merchantId: string | null }[]>`
    select id, type, merchant_id as "merchantId" from events
    where type = any(${PUBLIC_EVENT_TYPES as string[]}::text[]) order by id`;
  for (const { url, wants, accepted } of receivers) {
    const missed = events.find((event) => wants(event) && !accepted.has(event.id));
    if (missed !== undefined) return `${missed.type} ${missed.id} never came to ${url}`;
  }
  return undefined;
}

/** The signatures that were accepted for a merchant. */
export async function countAccepted(sql: Stage['sql'], merchantId: string): Promise<number> {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from items i join payments p on p.id = i.subject
    where p.merchant_id = ${merchantId} and i.purpose = 'payment' and i.method <> 'native'`;
  return rows[0]?.count ?? 0;
}
