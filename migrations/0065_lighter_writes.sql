-- Without a transaction: payments move meanwhile.
-- Nodes of the version before 0051 searched in these two indexes. A search has used those in lower case since then. They were a
-- third of the write-ahead log of a settled payment: one entry for every part of the reference, at every move.
drop index concurrently if exists payments_by_reference;
drop index concurrently if exists payments_long_by_reference;
