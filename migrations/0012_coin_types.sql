-- The gas of Celo, Monad and Polygon Amoy was booked as Ether (slip44:60). Entries are never changed, so what every account
-- holds under the wrong number is moved to the right one, by two entries for each network that each add up to nothing.
with renamed (network, was, asset) as (
  values
    ('eip155:42220', 'eip155:42220/slip44:60', 'eip155:42220/slip44:52752'),
    ('eip155:143', 'eip155:143/slip44:60', 'eip155:143/slip44:268435779'),
    ('eip155:80002', 'eip155:80002/slip44:60', 'eip155:80002/slip44:966')
), held as (
  select r.network, r.was, r.asset, l.account, sum(l.units) as units
  from renamed r
  join book_entries b on b.network = r.network and b.asset = r.was,
    jsonb_to_recordset(b.lines) as l(account text, units numeric)
  group by r.network, r.was, r.asset, l.account
  having sum(l.units) <> 0
), moved as (
  select network, was as asset, account, -units as units from held
  union all
  select network, asset, account, units from held
)
insert into book_entries (network, asset, kind, subject, reference, note, at, lines)
select network, asset, 'coin_renamed', network, 'coin_renamed ' || network, 'SLIP-44', date_trunc('milliseconds', now()),
  jsonb_agg(jsonb_build_object('account', account, 'units', units::text) order by account)
from moved
group by network, asset;

update strays s
set asset = r.asset
from (
  values
    ('eip155:42220/slip44:60', 'eip155:42220/slip44:52752'),
    ('eip155:143/slip44:60', 'eip155:143/slip44:268435779'),
    ('eip155:80002/slip44:60', 'eip155:80002/slip44:966')
) as r (was, asset)
where s.asset = r.was;
