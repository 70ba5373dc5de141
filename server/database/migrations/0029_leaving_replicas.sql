-- Names of the replicas that are being ended: told to end, they may serve on for a while, and must not be taken for running.
alter table service_scale add column leaving text[] not null default '{}';
