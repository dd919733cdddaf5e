-- An event by its id, for `GET /v1/events/{id}`.
create index events_by_id on events (id);
