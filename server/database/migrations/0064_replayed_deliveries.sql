-- A replay is a further delivery of an event to the same webhook. It is tried once.
alter table webhook_delivery
  add column is_replay boolean not null default false,
  drop constraint webhook_delivery_webhook_id_event_id_key;
create unique index webhook_delivery_first on webhook_delivery (webhook_id, event_id) where not is_replay;
