-- Requests that were made with API keys, for the developers of partners. Rows are deleted after some days.
create table api_requests (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  partner_id text not null,
  mode text not null,
  key_id text not null,
  method text not null,
  -- Without the query, which may hold private data.
  path text not null,
  status smallint not null,
  ms integer not null,
  -- The error of the answer.
  code text,
  message text,
  request_id text not null,
  address text not null,
  -- Requests of the partner since the row before, with the same kind of result, that were not recorded.
  skipped integer not null
);
create index api_requests_by_partner on api_requests (partner_id, mode, id);
create index api_requests_with_errors on api_requests (partner_id, mode, id) where status >= 400;
create index api_requests_by_time on api_requests (at);
