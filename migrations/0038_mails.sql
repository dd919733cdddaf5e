-- Mails: a row first, then sent by any node that has the role `jobs`.

create table mails (
  id text primary key,
  kind text not null check (kind in ('invitation', 'sign_in_link', 'alert_raised', 'alert_cleared', 'receipt')),
  recipient text not null,
  language text not null,
  -- The person, the payment, or the name of the alert.
  subject text not null,
  -- Names the reason for the mail: one reason makes one mail.
  key text not null unique,
  -- The values of the letter, and its one-time link, wrapped by the master secret. Null when the mail is over.
  content jsonb,
  wrapped_link text,
  status text not null default 'pending' check (status in ('pending', 'sent', 'failed')),
  created_at timestamptz not null,
  -- It is tried until then.
  until timestamptz not null,
  tries integer not null default 0,
  -- The number of the last claim. It is a fencing number: a result names it, and an old one is refused.
  claim integer not null default 0,
  -- The next attempt. Of a claimed mail: the end of the claim. Null when the mail is over.
  due_at timestamptz,
  is_claimed boolean not null default false,
  ended_at timestamptz,
  -- True if the server refused the recipient for good.
  is_refused boolean not null default false,
  problem text,
  check ((status = 'pending') = (due_at is not null)),
  check ((status = 'pending') = (ended_at is null)),
  check (status = 'pending' or (content is null and wrapped_link is null))
);
create index mails_due on mails (due_at) where status = 'pending';
create index mails_over on mails (ended_at) where status <> 'pending';
create index mails_by_recipient on mails (lower(recipient), created_at);
create index mails_by_subject on mails (subject, created_at);

-- An alert is mailed once when it is raised, and once when it is over.
alter table alerts add column is_mailed boolean not null default false;
alter table past_alerts add column is_end_unmailed boolean not null default false;
create index past_alerts_unmailed on past_alerts (until) where is_end_unmailed;
