-- Paying on chains: what payers authorised, what was sent, and what the chains reported.

-- One row for everything that may move money: an accepted signature, or a native action that was handed out. It holds all
-- that the commitment stands for, so that an event of the chain can be believed or not by this row alone.
create table items (
  commitment text primary key,
  subject text not null,
  purpose text not null default 'payment' check (purpose in ('payment')),
  network text not null,
  asset text not null,
  method text not null check (method in ('eip3009-vrs', 'eip3009-bytes', 'permit2', 'native')),
  payer text not null,
  -- CAIP-10, as the wallet spelled it.
  account text not null,
  recipient text not null,
  fee_account text not null,
  amount numeric(78, 0) not null check (amount > 0),
  fee numeric(78, 0) not null check (fee >= 0 and fee <= amount),
  deadline timestamptz not null,
  -- The rate, its sources and its time, where one was needed.
  quote jsonb,
  -- Who named the account: shown as the buyer.
  buyer_name text not null,
  buyer_icon text,
  -- offered: a native action was handed out. due: waits to be sent. sent: is in a stored transaction.
  -- paid, unpaid: over, with proof of final depth.
  state text not null check (state in ('offered', 'due', 'sent', 'paid', 'unpaid')),
  -- Destroyed when the item ended unpaid.
  signature text,
  has_code boolean not null default false,
  -- Of the option and the results it was accepted with: the same request again gets the same answer.
  results_hash text,
  -- A transaction the payer's wallet named; a hint, not evidence.
  hinted_hash text,
  accepted_at timestamptz not null,
  ended_at timestamptz,
  -- What decided an unpaid item.
  end_reason text,
  -- How often sending it came to nothing, when it is worth another try, and what a simulation said against it: a reason to
  -- wait or to look closer, never to give up.
  attempts integer not null default 0,
  retry_at timestamptz,
  refusal text,
  check (state <> 'unpaid' or signature is null),
  check (state not in ('due', 'sent') or signature is not null)
);
create index items_by_subject on items (subject);
create index items_due on items (network, accepted_at) where state = 'due';
create index items_called_used on items (network) where state = 'due' and refusal = 'used';
create index items_open on items (network, deadline) where state in ('offered', 'due', 'sent');

-- Who may do what nobody may do twice at once. The fencing number grows with every holder, and writes name it.
create table leases (
  name text primary key,
  holder text not null,
  fencing bigint not null,
  until timestamptz not null
);

-- A nonce of a signer, taken together with the first signed transaction that uses it.
create table sends (
  network text not null,
  signer text not null,
  nonce bigint not null,
  -- batch: carries items. nothing: only fills a gap.
  kind text not null check (kind in ('batch', 'nothing')),
  fencing bigint not null,
  created_at timestamptz not null,
  -- open, until a transaction of this nonce is mined at final depth.
  state text not null check (state in ('open', 'final')),
  final_hash text,
  primary key (network, signer, nonce)
);
create index sends_open on sends (network, signer, nonce) where state = 'open';

-- The signed transactions of a nonce, stored before they are broadcast: the first, and its replacements with higher fees.
create table send_versions (
  hash text primary key,
  network text not null,
  signer text not null,
  nonce bigint not null,
  bytes text not null,
  max_fee numeric(78, 0) not null,
  tip numeric(78, 0) not null,
  gas_limit numeric(78, 0) not null,
  created_at timestamptz not null,
  broadcast_at timestamptz,
  foreign key (network, signer, nonce) references sends
);
create index on send_versions (network, signer, nonce);

create table send_items (
  network text not null,
  signer text not null,
  nonce bigint not null,
  position integer not null,
  commitment text not null references items,
  primary key (network, signer, nonce, position),
  foreign key (network, signer, nonce) references sends
);
create index on send_items (commitment);

-- How far each chain was read, and the blocks near its head, by which a reorganisation is noticed.
create table chain_cursors (
  network text primary key,
  block_number bigint not null,
  block_hash text not null,
  -- Everything up to here is of final depth and has been decided on.
  final_number bigint not null,
  final_timestamp timestamptz not null,
  fencing bigint not null,
  updated_at timestamptz not null
);
create table chain_blocks (
  network text not null,
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  at timestamptz not null,
  primary key (network, number)
);

-- What the Collector reported. Rows of a block that was reorganised away are removed with it.
create table chain_events (
  network text not null,
  transaction_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  commitment text not null,
  type text not null check (type in ('paid', 'refused')),
  fields jsonb not null,
  -- When what follows from it had been done; at once where nothing does.
  decided_at timestamptz,
  -- Why it was set aside instead.
  problem text,
  primary key (network, transaction_hash, log_index)
);
create index chain_events_undecided on chain_events (network, block_number) where decided_at is null;
create index on chain_events (network, block_number);
create index on chain_events (commitment);
