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
  -- log: a transfer, as its log shows it. balance: an amount that is there by the word of two endpoints, and whose log was not
  -- shown. loss: an amount that is not there by their word, although logs show it.
  source text not null default 'log' check (source in ('log', 'balance', 'loss')),
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
  -- True if an operator has searched there: all tokens are looked at, and not only those of known transfers.
  is_searched boolean not null default false,
  -- Places take turns: the one that was looked at longest ago comes first.
  looked_at timestamptz,
  primary key (network, commitment)
);
create index deposit_places_by_number on deposit_places (network, number);
create index deposit_places_stale on deposit_places (network, looked_at nulls first, number) where is_stale;
create index deposit_places_of_payment on deposit_places (payment_id);
create index deposit_places_by_address on deposit_places (network, address);

-- The terms of an address name no network, so a payment may have one address on two networks, for a token with one contract
-- address on both.
alter table deposits drop constraint deposits_pkey cascade;
alter table deposits
  -- The row of `items` with the terms on this network. It is the commitment, unless another network has that.
  add column item text;
update deposits set item = commitment;
alter table deposits alter column item set not null, add primary key (network, commitment), add unique (item);
alter table deposits add constraint deposits_item_fkey foreign key (item) references items;

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

alter table strays drop constraint if exists strays_reason_check;
alter table strays add constraint strays_reason_check
  check (reason in ('late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network')) not valid;

-- The switch. From here on lots say who owns what. Nodes of the version before can neither lead nor write the old totals, so
-- nothing is counted twice; they still answer requests until they are replaced.
lock table deposits, deposit_transfers, deposit_strays, payouts in share row exclusive mode;
-- A leader of the version before holds its lease no longer: its next write names an old number, and is refused.
update leases set fencing = fencing + 1, until = now(), holder = '';

alter table positions
  -- What the version before had done with money of the payment. It is applied to the lots when they are computed for the first time.
  add column adopted jsonb;

insert into deposit_places (network, commitment, address, payment_id, opened_at, is_stale, checked_block)
select d.network, d.commitment, d.address, d.payment_id, d.opened_at,
  d.arrived <> d.swept or d.is_stale or d.is_unfinished or p.status in ('requires_action', 'processing'), d.checked_block
from deposits d join payments p on p.id = d.payment_id order by d.number;
insert into deposit_places (network, commitment, address, payment_id, opened_at, is_stale, is_searched)
select distinct on (s.network, s.commitment) s.network, s.commitment, d.address, d.payment_id, s.found_at, true, true
from deposit_strays s join deposits d on d.commitment = s.commitment where s.network <> d.network
on conflict do nothing;

-- Transfers up to the last look were counted, by balances that two endpoints had shown. Later ones are proved now.
insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset, sender,
  amount, is_screened, is_proved)
select t.network, t.transaction_hash, t.log_index, t.block_number, t.block_hash, t.at, t.commitment, d.payment_id, t.asset,
  t.sender, t.amount, t.is_screened,
  t.block_number <= coalesce(case when t.asset = d.asset then d.checked_block else s.checked_block end, -1)
from deposit_transfers t join deposits d on d.commitment = t.commitment
left join deposit_strays s on s.commitment = t.commitment and s.network = t.network and s.asset = t.asset;

-- Money that was counted, and whose log was never listed, or the other way round.
insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset, sender,
  amount, is_screened, source, is_proved)
select m.network, 'adopted ' || m.commitment || ' ' || m.asset, 0, coalesce(m.checked_block, 0), '', i.deadline, m.commitment,
  m.payment_id, m.asset, '', abs(m.arrived - m.listed), false, case when m.arrived > m.listed then 'balance' else 'loss' end, true
from (
  select c.network, c.commitment, c.asset, c.payment_id, c.arrived, c.checked_block, coalesce((
      select sum(t.amount) from movements t
      where t.network = c.network and t.commitment = c.commitment and t.asset = c.asset and t.is_proved), 0) as listed
  from (
    select network, commitment, asset, payment_id, arrived, checked_block from deposits where checked_block is not null
    union all
    select s.network, s.commitment, s.asset, d.payment_id, s.arrived, s.checked_block
    from deposit_strays s join deposits d on d.commitment = s.commitment where s.checked_block is not null
  ) c
) m join items i on i.commitment = m.commitment where m.arrived <> m.listed;

-- Held items. What payouts, refunds and floats have taken of them is spent, under the ids of then.
insert into lots (id, payment_id, merchant_id, commitment, network, asset, address, account, is_held, amount, waiting, fee, net,
  is_paying, reason, number, payout_key, destination, problem, retry_at, held_at, updated_at)
select l.id, p.id, p.merchant_id, i.commitment, i.network, i.asset, null, i.recipient, true, i.amount, 0, i.fee, i.amount - i.fee,
  i.end_reason is null, case when i.end_reason is null then null when p.status = 'succeeded' then 'paid_twice' else 'late' end, 0,
  substr(encode(sha256(convert_to('payout ' || l.id, 'UTF8')), 'hex'), 2, 29), y.destination, y.problem, y.retry_at,
  coalesce(i.ended_at, now()), now()
from items i join payments p on p.id = i.subject left join payouts y on y.payment_id = p.id and i.end_reason is null,
  lateral (select i.network || '/' || i.commitment || '/0' as id) l
where i.purpose = 'payment' and i.is_held and i.state = 'paid' and i.method not in ('deposit', 'deposit-vrs', 'deposit-bytes');

create temporary table old_spends on commit drop as
  -- The id of a payout was that of its payment, with another mark: the upper half of its second digit.
  select o.id as order_id, 'payout' as purpose, y.payment_id, o.network, o.asset, y.account, o.amount as units
  from payouts y join outgoing o on o.purpose = 'payout' and o.state in ('sending', 'paid')
    and o.id = 'pout_' || substr(y.payment_id, 5, 1) || translate(substr(y.payment_id, 6, 1), '0123456789ABCDEF', 'GHJKMNPQRSTVWXYZ')
      || substr(y.payment_id, 7)
  union all
  select r.id, 'refund', r.payment_id, r.network, r.asset, y.account, r.from_held
  from refunds r join payouts y on y.payment_id = r.payment_id and y.asset = r.asset
  where r.from_held > 0 and not (r.state = 'failed' and r.problem in ('not_left', 'vetoed'))
  union all
  select 'float ' || b.asset || ' ' || b.subject, 'float', b.subject, b.network, b.asset, '', sum(l.units)
  from (select payment_id from payouts union select payment_id from deposits) h
  join book_entries b on b.reference = h.payment_id and b.kind = 'held_to_float',
    jsonb_to_recordset(b.lines) as l(account text, units numeric)
  where l.account like 'intermediate/float/%' group by b.asset, b.subject, b.network;
create index on old_spends (payment_id);
analyze old_spends;

update outgoing o set payment_id = y.payment_id from payouts y
where o.purpose = 'payout' and o.payment_id is null and o.id = 'pout_' || substr(y.payment_id, 5, 1) || translate(substr(y.payment_id, 6, 1), '0123456789ABCDEF', 'GHJKMNPQRSTVWXYZ')
      || substr(y.payment_id, 7);
update outgoing o set payment_id = r.payment_id from refunds r where o.purpose = 'refund' and o.id = r.id;

-- Spends of held items are certain: the lot is there. Those of deposit addresses are applied when their lots are computed. A
-- float came from money of the deposit address, if there is one.
insert into lot_spends (order_id, lot_id, purpose, payment_id, network, asset, account, units)
select s.order_id, l.id, s.purpose, s.payment_id, s.network, s.asset, l.account, s.units
from old_spends s join lots l on l.payment_id = s.payment_id and l.network = s.network and l.asset = s.asset and l.is_paying
where s.units > 0
  and (s.purpose <> 'float' or not exists (select from deposits d where d.payment_id = s.payment_id));
-- Late money of items is booked as a stray, and its return takes it from there. It is never paid out.
insert into lot_spends (order_id, lot_id, purpose, payment_id, network, asset, account, units)
select 'stray ' || l.commitment, l.id, 'return', l.payment_id, l.network, l.asset, l.account, l.net
from lots l where not l.is_paying and l.net > 0;

-- The entries of deposit addresses, which have the commitment as their reference.
create temporary table old_booked on commit drop as
  select payment_id, jsonb_agg(jsonb_build_object('network', network, 'asset', asset, 'reference', reference, 'lines', lines)) as booked
  from (
    select payment_id, network, asset, reference,
      jsonb_agg(jsonb_build_object('account', account, 'units', units::text)) as lines
    from (
      select d.payment_id, b.network, b.asset, b.reference, l.account, sum(l.units) as units
      from (select distinct payment_id, commitment from deposits) d
      join book_entries b on b.reference = d.commitment and b.kind in ('deposited', 'swept', 'unswept'),
        jsonb_to_recordset(b.lines) as l(account text, units numeric)
      group by d.payment_id, b.network, b.asset, b.reference, l.account having sum(l.units) <> 0
    ) summed group by payment_id, network, asset, reference
  ) posted group by payment_id;
create index on old_booked (payment_id);
analyze old_booked;

-- All payments with deposit addresses: whatever comes later is booked as a difference to this. Those that are over, and whose
-- money is all with its merchant, are not computed before something comes.
insert into positions (payment_id, is_stale, updated_at, booked, adopted)
select p.id, p.status in ('requires_action', 'processing') or n.is_moving
    or exists (select from payouts y where y.payment_id = p.id)
    or exists (select from deposit_strays s join deposits o on o.commitment = s.commitment where o.payment_id = p.id)
    or exists (select from strays s where s.payment_id = p.id),
  now(), coalesce((select b.booked from old_booked b where b.payment_id = p.id), '[]'),
  jsonb_build_object(
    'spends', coalesce((
      select jsonb_agg(jsonb_build_object('order', s.order_id, 'purpose', s.purpose, 'network', s.network, 'asset', s.asset,
        'units', s.units::text))
      from old_spends s
      where s.payment_id = p.id and s.units > 0
        and not exists (select from lot_spends t where t.order_id = s.order_id)), '[]'),
    'told', coalesce((
      select jsonb_agg(jsonb_build_object('stray', s.id, 'network', s.network, 'asset', s.asset, 'units', s.amount::text)
        order by s.seen_at, s.id)
      from strays s
      where s.payment_id = p.id and s.source = 'late_payment' and s.transaction_hash is null), '[]'))
from (
  select payment_id, bool_or(arrived <> swept or owed > 0 or is_stale or is_unfinished) as is_moving
  from deposits group by payment_id
) n join payments p on p.id = n.payment_id;

update lots l set is_open = l.is_held and l.net > coalesce((select sum(s.units) from lot_spends s where s.lot_id = l.id), 0);

-- Only nodes of this version lead: they name themselves when they take a lease.
alter table leases add column taken_by text;
create function refuse_older_leader() returns trigger language plpgsql as $$
begin
  if new.holder = '' or new.taken_by is not distinct from 'lots ' || new.holder then return new; end if;
  raise exception 'A newer version of Till leads this work. Replace this node.';
end $$;
create trigger leases_of_this_version before insert or update on leases
  for each row execute function refuse_older_leader();

create function refuse_old_total() returns trigger language plpgsql as $$
begin
  raise exception 'Money is kept in lots. Replace this node by the newer version.';
end $$;
create trigger payouts_are_history before insert or update or delete on payouts
  for each row execute function refuse_old_total();
create trigger deposit_transfers_are_history before insert or update or delete on deposit_transfers
  for each row execute function refuse_old_total();
create trigger deposit_strays_are_history before insert or update or delete on deposit_strays
  for each row execute function refuse_old_total();
-- The totals of addresses, too. Their rows are made by requests, which nodes of the version before still answer: the address is
-- watched like any other.
create trigger deposit_totals_are_history
  before update of arrived, swept, told, sweeps, owed, checked_block, is_stale, is_unfinished on deposits
  for each row execute function refuse_old_total();
create function adopt_older_deposit() returns trigger language plpgsql as $$
begin
  if new.item is null then
    new.item := new.commitment;
    insert into deposit_places (network, commitment, address, payment_id, opened_at)
    values (new.network, new.commitment, new.address, new.payment_id, new.opened_at) on conflict do nothing;
  end if;
  return new;
end $$;
create trigger deposits_of_older_nodes before insert on deposits
  for each row execute function adopt_older_deposit();
