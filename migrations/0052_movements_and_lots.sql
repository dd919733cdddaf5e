-- Money that arrives is stored once, as movements. Its owners are computed from them, in lots.

-- Every account that was ever an account of ours. A row is never changed or deleted, but for its MAC when keys rotate.
create table own_accounts (
  network text not null,
  address text not null,
  kind text not null check (kind in ('intermediate', 'relayer')),
  since timestamptz not null,
  -- The proof that the gateway wrote the row.
  mac text not null,
  primary key (network, address, kind)
);
create function refuse_change_of_account() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.network, new.address, new.kind, new.since) = (old.network, old.address, old.kind, old.since) then
    return new;
  end if;
  raise exception 'An account of ours stays an account of ours.';
end $$;
create trigger own_accounts_append_only before update or delete on own_accounts
  for each row execute function refuse_change_of_account();

-- Transfers to deposit addresses, as the chain shows them.
create table movements (
  network text not null,
  transaction_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  -- The time of the block.
  at timestamptz not null,
  -- The deposit address, by its commitment.
  commitment text not null,
  payment_id text not null references payments,
  asset text not null,
  -- Of a transfer by the Collector, the payer.
  sender text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- True if the sender was on the screening list: the amount does not count.
  is_screened boolean not null,
  -- log: a transfer, as its log shows it. balance: an amount that is there by the word of two endpoints, and whose log was not shown.
  source text not null default 'log' check (source in ('log', 'balance')),
  -- True once enough endpoints have shown it at final depth.
  is_proved boolean not null default false,
  primary key (network, transaction_hash, log_index)
);
create index movements_of_address on movements (commitment, network, asset);
create index movements_of_payment on movements (payment_id);
create index movements_by_block on movements (network, block_number);
create index movements_by_sender on movements (network, lower(sender));
create index movements_unproved on movements (commitment) where not is_proved;

-- Deposit addresses on the networks where they are watched. One address is the same on all networks.
create table deposit_places (
  network text not null,
  commitment text not null,
  address text not null,
  payment_id text not null references payments,
  -- Watchers read new rows by it.
  number bigint generated always as identity,
  opened_at timestamptz not null,
  -- True while something may have moved since the last look.
  is_stale boolean not null default false,
  -- Up to this final block the movements and sweeps explain the balance.
  checked_block bigint,
  primary key (network, commitment)
);
create index deposit_places_by_number on deposit_places (network, number);
create index deposit_places_stale on deposit_places (network, number) where is_stale;
create index deposit_places_of_payment on deposit_places (payment_id);
create index deposit_places_by_address on deposit_places (network, address);

-- The money of payments that have deposit addresses or unexpected money, as it was last computed and booked.
create table positions (
  payment_id text primary key references payments,
  -- True while it has to be computed again. Nothing of the payment is spent meanwhile.
  is_stale boolean not null default true,
  -- { network, commitment, amount, lots }: what paid the payment. It is written once.
  ending jsonb,
  -- The lines that were booked for it, by network and asset.
  booked jsonb not null default '[]',
  updated_at timestamptz not null
);
create index positions_stale on positions (payment_id) where is_stale;

-- Money of one payment in one asset, on one account of one network.
create table lots (
  -- From the chain alone.
  id text primary key,
  payment_id text not null references payments,
  merchant_id text not null,
  commitment text not null,
  network text not null,
  asset text not null,
  -- The deposit address; null for an item.
  address text,
  -- The recipient.
  account text not null,
  is_held boolean not null,
  amount numeric(78, 0) not null check (amount > 0),
  waiting numeric(78, 0) not null check (waiting >= 0),
  fee numeric(78, 0) not null check (fee >= 0),
  net numeric(78, 0) not null check (net >= 0),
  is_paying boolean not null,
  reason text,
  is_screened boolean not null default false,
  -- The order of the money of a payment.
  number integer not null,
  -- The first 15 bytes of the ids of its payouts.
  payout_key text not null,
  -- True if a part of it is held, and no order has taken it. It follows from `net` and `lot_spends`.
  is_open boolean not null default false,
  -- The destination a payout of it last failed to reach, why, and when that is tried again.
  destination text,
  problem text,
  retry_at timestamptz,
  held_at timestamptz not null,
  updated_at timestamptz not null,
  check (amount = waiting + fee + net)
);
create index lots_of_payment on lots (payment_id, number);
create index lots_open on lots (merchant_id, asset) where is_open;
create index lots_of_commitment on lots (commitment);
create index lots_by_payout on lots (payout_key);

-- The parts of lots that payouts, refunds and returns have taken. A lot may leave the chain; its spends stay.
create table lot_spends (
  order_id text not null,
  lot_id text not null,
  purpose text not null check (purpose in ('payout', 'refund', 'return', 'float')),
  payment_id text not null references payments,
  network text not null,
  asset text not null,
  account text not null,
  units numeric(78, 0) not null check (units > 0),
  primary key (order_id, lot_id)
);
create index lot_spends_of_lot on lot_spends (lot_id);
create index lot_spends_of_payment on lot_spends (payment_id);

alter table outgoing
  -- Of payouts: the id of a payout follows from a lot, and does not show its payment.
  add column payment_id text references payments;
create index outgoing_of_payment on outgoing (payment_id) where payment_id is not null;
create index outgoing_of_merchant on outgoing (merchant_id, payment_id) where payment_id is not null;
create index lots_open_of_merchant on lots (merchant_id, payment_id) where is_open;
create index refunds_from_held on refunds (merchant_id, payment_id) where from_held > 0;

alter table refunds
  -- Why its held part cannot be taken yet: sweep, debt or arrival. Null if it waits for nothing but funds.
  add column waits_for text,
  -- It is not looked at before.
  add column look_at timestamptz;

alter table strays
  -- The lot of late money.
  add column lot_id text,
  -- A requested return that could not begin is not looked at before.
  add column look_at timestamptz;
create unique index strays_of_lot on strays (lot_id) where lot_id is not null;

-- The held money of items, from the table of older versions. Money of deposit addresses is computed from movements.
insert into lots (id, payment_id, merchant_id, commitment, network, asset, address, account, is_held, amount, waiting, fee, net,
  is_paying, number, payout_key, destination, problem, retry_at, held_at, updated_at)
select l.id, o.payment_id, o.merchant_id, i.commitment, i.network, i.asset, null, i.recipient, true, i.amount, 0, i.fee,
  i.amount - i.fee, true, 0, substr(encode(sha256(convert_to('payout ' || l.id, 'UTF8')), 'hex'), 2, 29), o.destination,
  o.problem, o.retry_at, o.held_at, o.updated_at
from payouts o
join items i on i.subject = o.payment_id and i.purpose = 'payment' and i.is_held and i.state = 'paid' and i.end_reason is null
  and i.method not in ('deposit', 'deposit-vrs', 'deposit-bytes'),
  lateral (select i.network || '/' || i.commitment || '/0' as id) l
on conflict (id) do nothing;

-- The id of an older payout is that of its payment with another mark: the upper half of its second digit.
update outgoing g set payment_id = o.payment_id
from payouts o
where g.purpose = 'payout' and g.id = 'pout_' || substr(o.payment_id, 5, 1)
  || translate(substr(o.payment_id, 6, 1), '0123456789ABCDEF', 'GHJKMNPQRSTVWXYZ') || substr(o.payment_id, 7);

insert into lot_spends (order_id, lot_id, purpose, payment_id, network, asset, account, units)
select g.id, l.id, 'payout', l.payment_id, l.network, l.asset, l.account, g.amount
from lots l join outgoing g on g.payment_id = l.payment_id and g.state <> 'failed' and g.asset = l.asset
where l.address is null;
insert into lot_spends (order_id, lot_id, purpose, payment_id, network, asset, account, units)
select r.id, l.id, 'refund', l.payment_id, l.network, l.asset, l.account, r.from_held
from lots l join refunds r on r.payment_id = l.payment_id and r.from_held > 0 and r.asset = l.asset
where l.address is null;
-- Older versions turned rests of held amounts into floats.
insert into lot_spends (order_id, lot_id, purpose, payment_id, network, asset, account, units)
select l.payment_id, l.id, 'float', l.payment_id, l.network, l.asset, l.account, l.net - o.amount - s.units
from lots l join payouts o on o.payment_id = l.payment_id
join lateral (
  select coalesce(sum(x.units) filter (where x.purpose = 'refund'), 0)
    - case when o.state in ('refunding', 'refunded') then o.amount else 0 end as units
  from lot_spends x where x.lot_id = l.id) s on true
where l.address is null and l.net - o.amount - s.units > 0;
update lots l set is_open = true
where l.address is null and l.is_held
  and l.net > coalesce((select sum(s.units) from lot_spends s where s.lot_id = l.id), 0);

-- Nothing writes held amounts any more.
create function refuse_held_amounts() returns trigger language plpgsql as $$
begin
  raise exception 'Held money is in lots. A node of an older version must not run beside this one.';
end $$;
create trigger payouts_are_over before insert or update or delete on payouts
  for each row execute function refuse_held_amounts();
