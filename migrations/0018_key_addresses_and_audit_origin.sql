-- Keys may be limited to addresses. Destinations have a scope of their own: keys that could change them before still can.
alter table api_keys add column addresses text[];  -- null: any address
update api_keys set scopes = array_append(scopes, 'destinations:write')
where 'merchants:write' = any(scopes) and not 'destinations:write' = any(scopes);

-- Where a change came from. `origin` is what the gateway knows: the address of the request, or the host and account of an
-- operator command. The other two are what PostgreSQL itself saw. Rows from before have neither.
alter table audit_log
  add column origin jsonb not null default '{}',
  add column database_user text,
  add column database_client inet;
alter table audit_log
  alter column database_user set default session_user,
  alter column database_client set default inet_client_addr();
