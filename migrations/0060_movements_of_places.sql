-- Without a transaction: transfers arrive while the indexes are built. An index that a crash left half built is built again.
-- The transfers to an address since a time. It takes the place of the index by asset.
drop index concurrently if exists movements_of_place;
create index concurrently movements_of_place on movements (commitment, network, at);
-- The few amounts that no log shows.
drop index concurrently if exists movements_without_log;
create index concurrently movements_without_log on movements (commitment) where source <> 'log';
drop index concurrently if exists movements_of_address;
