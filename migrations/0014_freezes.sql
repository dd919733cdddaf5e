-- Freezes stop money. A change of a settlement destination cools off before it applies.

create table freezes (
  -- merchant, partner, network: its id is the subject. payouts, refunds: all of them, and the subject is empty.
  -- restored: the database was restored from a backup, and payouts and refunds on the network wait for `rebuild`.
  scope text not null check (scope in ('merchant', 'partner', 'network', 'payouts', 'refunds', 'restored')),
  subject text not null,
  reason text not null,
  -- `operator`, with a name where one was given, or the worker that found the cause.
  actor text not null,
  since timestamptz not null,
  primary key (scope, subject),
  check ((scope in ('payouts', 'refunds')) = (subject = ''))
);

-- A refund that an operator has requested or approved is sent although its merchant is suspended or frozen.
alter table refunds add column is_operators boolean not null default false;

-- `destination` is always the one in force. A change waits beside it until its time.
alter table crypto_settlements
  add column pending_destination text,
  add column effective_at timestamptz,
  -- Held money goes to the destination from this time on. A first destination takes new payments at once.
  add column held_from timestamptz not null default 'epoch',
  add check ((pending_destination is null) = (effective_at is null));
create index crypto_settlements_pending on crypto_settlements (effective_at) where effective_at is not null;

-- The last destination of a merchant and asset that was removed. It is in force again while its successor cools off, so
-- that removing a destination and adding another is not a way around the cooling-off period.
create table removed_destinations (
  merchant_id text not null references merchants,
  asset_key text not null,
  destination text not null,
  held_from timestamptz not null,
  removed_at timestamptz not null,
  primary key (merchant_id, asset_key)
);

-- Removals before this migration, of which the audit log tells. EVM assets are compared without case.
insert into removed_destinations (merchant_id, asset_key, destination, held_from, removed_at)
select distinct on (subject, key) subject, key, detail ->> 'destination', 'epoch', at
from (
  select id, at, subject, detail,
    case when detail ->> 'asset' like 'eip155:%' then lower(detail ->> 'asset') else detail ->> 'asset' end as key
  from audit_log where action = 'settlement.removed'
) removed
where key is not null and detail ->> 'destination' is not null
  and exists (select from merchants m where m.id = removed.subject)
order by subject, key, id desc;
