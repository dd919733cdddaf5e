-- An account may be in use, be replaced, and come back: each time is a row. An operator names accounts that a restored database
-- does not know.
alter table own_accounts drop constraint own_accounts_pkey;
alter table own_accounts add primary key (network, kind, address, since);
