-- The annotations of the service's annotations groups at that moment, by the kind of objects that
-- get them.
alter table release add column annotations jsonb not null default '{}';
