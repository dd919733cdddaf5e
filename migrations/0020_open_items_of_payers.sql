-- The open items of each payer are counted with every signature that is accepted. Without this index the planner scans all
-- open items of the network.
create index items_open_of_payer on items (network, payer) where purpose = 'payment' and state in ('due', 'sent');
