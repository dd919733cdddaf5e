-- One outbox: every change of a payment, refund, payout, settlement destination or merchant appends one row to `events`, in
-- the transaction of the change. Events get their positions after the commit, in `event_batches`; readers of many objects
-- go by position, so that nothing ever appears behind a reader. This replaces `payment_events` and `refund_events`.

-- The events that one statement appended for one partner and mode. A position is given to a batch, not to each event:
-- hundreds of payments that are created together cost one row here. An event's own position is that of its batch plus its
-- ordinal. Batches wait in `outbox` and are moved from there to `event_batches` by the placer.
create table outbox (
  batch bigint generated always as identity primary key,
  partner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  size integer not null check (size between 1 and 1000),
  -- The objects to announce when the batch is placed: those that somebody may wait for.
  objects text[]
);

create table event_batches (
  -- Of the batch's first event. Positions begin with 1 and have no gaps.
  position bigint not null,
  batch bigint not null,
  partner_id text not null,
  mode text not null,
  size integer not null
);

create table events (
  -- No foreign key: the statement that writes the event writes the batch.
  batch bigint not null,
  ordinal integer not null,
  -- Public; `evt_`, time and randomness. It is not derived from the object and its sequence, so that a database that was
  -- restored from a backup does not give the id of a lost event to another one.
  id text not null,
  -- One of `domain/event.ts`.
  type text not null,
  object_id text not null,
  -- Counts the events of the object from 1, without gaps. The object is locked when an event is appended, so a greater
  -- sequence is in a later batch.
  sequence integer not null,
  merchant_id text,
  at timestamptz not null,
  -- `key:<id>`, `app:<id>`, `operator`, or a worker's name.
  actor text not null,
  -- The facts of the object that can change, as the change left them. Null for a new payment: its own row has them all.
  data jsonb,
  -- What proves the change. Never shown to partners.
  evidence jsonb
);

-- Nodes of the version before may still be running.
lock table payments, refunds, payment_events, refund_events in share row exclusive mode;

set local work_mem = '64MB';
set local maintenance_work_mem = '256MB';

-- Events of a payment: its creation, then its moves, which had the versions from 1 on. Facts that were known after a move
-- are those of the payment today: before this version no move took a fact back.
create temporary view told_events as
select p.partner_id, p.mode, p.merchant_id, 'evt_' || substr(p.id, 5) as id, 'payment.created' as type,
  p.id as object_id, 1 as sequence, p.created_at as at, 'unknown' as actor, null::jsonb as data, null::jsonb as evidence
from payments p
union all
select p.partner_id, p.mode, p.merchant_id, 'evt_' || substr(p.id, 5, 10) || upper(substr(md5(p.id || ' ' || e.version), 1, 16)),
  case when e.event = 'reorged' then 'payment.reorged' else 'payment.' || e.to_status end,
  p.id, e.version + 1, e.at, e.actor,
  jsonb_strip_nulls(jsonb_build_object(
    'status', e.to_status,
    'updatedAt', case when e.to_status = p.status then p.updated_at else e.at end,
    'failureCode', case when e.to_status = 'failed' then p.failure_code end,
    'nativeDeadline', p.native_deadline,
    'tokenAsset', p.token_asset,
    'tokenValue', p.token_value::text,
    'buyerAccount', p.buyer_account,
    'buyerName', p.buyer_name,
    'buyerIcon', p.buyer_icon,
    'transactionHash', case when e.to_status = 'succeeded' then p.transaction_hash end,
    'transactionNonce', case when e.to_status = 'succeeded' then p.transaction_nonce::text end,
    'settlement', case when e.to_status = 'succeeded' and s.at <= e.at then jsonb_build_object(
      'asset', s.asset, 'amount', s.amount::text, 'recipient', s.recipient, 'transactionHash', s.transaction_hash,
      'at', s.at) end)),
  e.evidence
from payment_events e join payments p on p.id = e.payment_id
left join payment_settlements s on s.payment_id = p.id
union all
select p.partner_id, p.mode, p.merchant_id, 'evt_' || substr(r.id, 6, 10) || upper(substr(md5(r.id || ' ' || e.version), 1, 16)),
  case e.event
    when 'requested' then 'refund.created'
    when 'paid' then 'refund.succeeded'
    when 'failed' then 'refund.failed'
    when 'screened' then 'refund.failed'
    else 'refund.processing'
  end,
  r.id, e.version + 1, e.at, e.actor,
  jsonb_strip_nulls(jsonb_build_object(
    'state', e.to_state,
    'updatedAt', e.at,
    'transactionHash', case when e.to_state = 'refunded' then r.transaction_hash end,
    'problem', case when e.to_state = r.state then r.problem end)),
  e.evidence
from refund_events e join refunds r on r.id = e.refund_id join payments p on p.id = r.payment_id;

-- In the order of time. Clocks of nodes differ, so an event counts as no earlier than the one of its object before it.
create temporary table old_events on commit drop as
select *, row_number() over (partition by partner_id, mode order by since, object_id collate "C", sequence) - 1 as place
from (select *, max(at) over (partition by object_id collate "C" order by sequence) as since from told_events) timed;
drop view told_events;

create temporary table old_batches on commit drop as
select *, sum(size) over (order by batch) - size + 1 as position
from (
  select partner_id, mode, place / 1000 as chunk, count(*)::integer as size,
    row_number() over (order by min(since), partner_id, mode, place / 1000) as batch
  from old_events group by partner_id, mode, place / 1000
) counted;

insert into event_batches (position, batch, partner_id, mode, size)
select position, batch, partner_id, mode, size from old_batches order by position;

insert into events (batch, ordinal, id, type, object_id, sequence, merchant_id, at, actor, data, evidence)
select b.batch, e.place % 1000, e.id, e.type, e.object_id, e.sequence, e.merchant_id, e.at, e.actor, e.data,
  nullif(e.evidence, '{}')
from old_events e
join old_batches b on b.partner_id = e.partner_id and b.mode = e.mode and b.chunk = e.place / 1000
order by b.batch, e.place;

select setval(pg_get_serial_sequence('outbox', 'batch'), coalesce(max(batch), 1), max(batch) is not null)
from event_batches;

drop table payment_events, refund_events;

alter table event_batches add primary key (position), add unique (batch);
-- The feed of one partner.
create index event_batches_by_partner on event_batches (partner_id, mode, position);
alter table events add primary key (batch, ordinal), add unique (object_id, sequence);

create trigger events_append_only before update or delete or truncate on events
  for each statement execute function refuse_change();
create trigger event_batches_append_only before update or delete or truncate on event_batches
  for each statement execute function refuse_change();
-- An event of a payment tells what changed; the rest of the payment is in its row.
create trigger payments_never_removed before delete or truncate on payments
  for each statement execute function refuse_change();

analyze event_batches;
analyze events;
