-- People who sign in to the dashboard. They belong to the operator, to a partner, or to one merchant.
create table people (
  id text primary key,
  belongs_to text not null check (belongs_to in ('operator', 'partner', 'merchant')),
  partner_id text references partners,
  merchant_id text references merchants,
  -- The mode of the merchant. Null: both modes.
  mode text check (mode in ('test', 'live')),
  name text not null,
  email text not null,
  role text not null check (role in ('owner', 'developer', 'support', 'bookkeeper', 'cashier')),
  -- `[{"unit": "iso4217/USD", "value": "10000"}]`: how much a person of support may refund. Null: the role alone decides.
  refund_limits jsonb,
  -- Counts changes. A change names the version that it was made from.
  version integer not null default 1,
  created_at timestamptz not null,
  joined_at timestamptz,
  removed_at timestamptz,
  -- Over everything that decides what the person may do, under a key that is not in the database.
  mac text not null,
  check ((partner_id is null) = (belongs_to = 'operator')),
  check ((merchant_id is not null) = (belongs_to = 'merchant')),
  check ((mode is not null) = (belongs_to = 'merchant'))
);
create unique index people_by_email on people (belongs_to, coalesce(merchant_id, partner_id, ''), lower(email))
  where removed_at is null;
create index people_by_partner on people (partner_id, id) where removed_at is null;

-- Nobody can change or delete these rows, so a removed person stays removed, even if an older copy of the row is put back.
create table person_ends (
  person_id text primary key references people,
  at timestamptz not null
);
create trigger person_ends_append_only before update or delete or truncate on person_ends
  for each statement execute function refuse_change();

-- Links that sign a person in once. Only the hash of the token is stored.
create table sign_in_links (
  id text primary key,
  person_id text not null references people,
  hash text not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  mac text not null
);
create index sign_in_links_by_person on sign_in_links (person_id) where used_at is null;
create index sign_in_links_by_end on sign_in_links (expires_at);

create table passkeys (
  id text primary key,
  person_id text not null references people,
  -- Base64url, as browsers give it.
  credential_id text not null unique,
  public_key text not null,
  -- The authenticator's count of signatures. Zero: it does not count.
  counter bigint not null,
  transports text[] not null,
  label text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  mac text not null
);
create index passkeys_by_person on passkeys (person_id);

-- Only the hash of the cookie is stored.
create table sessions (
  id text primary key,
  person_id text not null references people,
  hash text not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz not null,
  -- The last time that the person showed a passkey or a one-time link.
  verified_at timestamptz not null,
  ended_at timestamptz,
  address text not null,
  user_agent text not null,
  mac text not null
);
create index sessions_by_person on sessions (person_id) where ended_at is null;
create index sessions_by_end on sessions (expires_at);

-- Challenges that a passkey has answered: each is answered once. The gateway stores none that is unanswered.
create table answered_challenges (
  hash text primary key,
  expires_at timestamptz not null
);
create index answered_challenges_by_end on answered_challenges (expires_at);

-- The changes that callers of a partner have made.
create index audit_log_by_partner on audit_log ((origin ->> 'partnerId'), id) where origin ? 'partnerId';
