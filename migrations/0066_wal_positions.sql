-- Expands: nodes of the version before leave it null.
--
-- How far a read replica must be to have the events of a batch: the end of the write-ahead log when the batch was placed, which is
-- after its commit. Null if no replica was configured then.
alter table event_batches add column wal pg_lsn;
