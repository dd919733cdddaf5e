-- Endpoints that were narrowed: their pending deliveries that no subscription asks for are removed in the background.
alter table webhook_endpoints add column narrowed_at timestamptz;
create index webhook_endpoints_narrowed on webhook_endpoints (id) where narrowed_at is not null;

-- The last turn of a request to redeliver. The endpoint, merchant and partner that waited longest come first.
alter table webhook_endpoints add column replayed_at timestamptz;
