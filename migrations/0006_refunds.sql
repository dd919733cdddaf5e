-- Money that leaves the intermediate account (payouts, refunds and returns), floats, and money that nobody asked for.

alter table items drop constraint items_purpose_check;
alter table items add constraint items_purpose_check check (purpose in ('payment', 'payout', 'refund', 'return'));
create index items_outgoing on items (network, deadline) where purpose <> 'payment' and state in ('due', 'sent');

-- Whether a chain tells of something that a restored database has forgotten.
create index chain_events_by_subject on chain_events ((fields ->> 'subject')) where type = 'paid';

-- Everything that leaves the intermediate account, whatever for: one mechanism. Each attempt is one Collector item, which
-- the account signs; the next one is begun only when the chain has proved that the one before can never be carried out.
create table outgoing (
  -- What the chain records as the item's subject.
  id text primary key,
  purpose text not null check (purpose in ('payout', 'refund', 'return')),
  network text not null,
  asset text not null,
  method text not null,
  -- Where the money lies, and where it goes.
  payer text not null,
  recipient text not null,
  amount numeric(78, 0) not null check (amount > 0),
  merchant_id text,
  -- Whose float it was, where that is given back.
  float_owner text,
  -- paid, failed: over, with proof of final depth.
  state text not null check (state in ('sending', 'paid', 'failed')),
  attempts integer not null default 0,
  -- The item of the attempt under way. It is written down before it is signed: nothing is ever signed that is not here.
  commitment text unique,
  fee_account text,
  deadline timestamptz,
  -- Whether that item is signed and among the items.
  is_due boolean not null default false,
  retry_at timestamptz,
  -- What stood against the last attempt.
  problem text,
  transaction_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (state <> 'paid' or transaction_hash is not null),
  check (not is_due or commitment is not null)
);
create index outgoing_to_begin on outgoing (network, created_at) where state = 'sending' and not is_due;

-- The net amount of each payment that was paid to the intermediate account because its merchant had no destination.
create table payouts (
  payment_id text primary key references payments,
  merchant_id text not null,
  network text not null,
  asset text not null,
  method text not null,
  -- Where it lies.
  account text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- held: waits for a destination. sending, paid: to the merchant. refunding, refunded: it goes back to the payer instead.
  -- Both ways begin with the same update of a held row, so only one of them can.
  state text not null check (state in ('held', 'sending', 'paid', 'refunding', 'refunded')),
  -- The destination (CAIP-10) it was last sent to, why it did not arrive there, and when that is tried again.
  destination text,
  problem text,
  retry_at timestamptz,
  held_at timestamptz not null,
  updated_at timestamptz not null
);
create index payouts_held on payouts (merchant_id, asset) where state = 'held';

insert into payouts (payment_id, merchant_id, network, asset, method, account, amount, state, held_at, updated_at)
select p.id, p.merchant_id, i.network, i.asset, i.method, i.recipient, i.amount - i.fee, 'held', i.ended_at, i.ended_at
from items i join payments p on p.id = i.subject
where i.is_held and i.state = 'paid' and i.end_reason is null and p.status = 'succeeded' and i.amount > i.fee;

create table refunds (
  id text primary key,
  -- A payment is refunded once.
  payment_id text not null unique references payments,
  merchant_id text not null,
  network text not null,
  asset text not null,
  method text not null,
  recipient text not null,
  amount numeric(78, 0) not null check (amount > 0),
  state text not null check (state in ('requested', 'sending', 'refunded', 'awaiting_funds', 'failed')),
  version integer not null default 0,
  -- What it is paid from: the payment's held net amount, the merchant's float, and, for the fee, the operator's.
  from_held numeric(78, 0) not null check (from_held >= 0),
  from_merchant numeric(78, 0) not null check (from_merchant >= 0),
  from_operator numeric(78, 0) not null check (from_operator >= 0),
  -- The account the money lies on.
  account text not null,
  transaction_hash text,
  problem text,
  requested_at timestamptz not null,
  updated_at timestamptz not null,
  check (from_held + from_merchant + from_operator = amount),
  check (state <> 'refunded' or transaction_hash is not null)
);
create index refunds_to_cover on refunds (requested_at) where state in ('requested', 'awaiting_funds');
create index refunds_failed on refunds (updated_at) where state = 'failed';

-- One row for every move of a refund: who, what, when, and what proves it.
create table refund_events (
  refund_id text not null references refunds,
  version integer not null,
  at timestamptz not null,
  from_state text,
  to_state text not null,
  event text not null,
  actor text not null,
  evidence jsonb not null,
  primary key (refund_id, version)
);
create trigger refund_events_append_only before update or delete or truncate on refund_events
  for each statement execute function refuse_change();

-- Money on the intermediate account that is there to pay refunds from.
create table floats (
  -- A merchant's id, or `operator`.
  owner text not null,
  network text not null,
  asset text not null,
  units numeric(78, 0) not null check (units >= 0),
  primary key (owner, asset)
);
create table float_changes (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  owner text not null,
  asset text not null,
  units numeric(78, 0) not null,
  -- added, covered (a refund), returned, restored (a return that did not arrive).
  kind text not null,
  -- The stray it was, the refund it covers, the return it left with.
  subject text not null
);
create index on float_changes (owner, asset, id);
create trigger float_changes_append_only before update or delete or truncate on float_changes
  for each statement execute function refuse_change();

-- Money that came without being asked for: transfers to accounts of ours, and payments that arrived after their end.
create table strays (
  id text primary key,
  network text not null,
  transaction_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  source text not null check (source in ('transfer', 'late_payment')),
  asset text not null,
  -- Who sent it, and the account of ours it came to.
  sender text not null,
  account text not null,
  amount numeric(78, 0) not null check (amount > 0),
  -- Of a late payment: what was taken as a fee, and whether the rest lies on that account or went to the merchant.
  fee numeric(78, 0) not null default 0,
  is_held boolean not null default true,
  payment_id text references payments,
  merchant_id text,
  -- Whether that account is the intermediate one, whose money is in the books.
  is_booked boolean not null,
  -- float: somebody has said what it is for.
  state text not null check (state in ('unclaimed', 'float', 'returning', 'returned')),
  seen_at timestamptz not null,
  updated_at timestamptz not null,
  unique (network, transaction_hash, log_index, source)
);
create index strays_unclaimed on strays (seen_at) where state = 'unclaimed';

-- How far each network was searched for strays.
create table stray_cursors (
  network text primary key,
  block_number bigint not null
);
