-- A new version can be judged by the time until its responses begin. Null: by failures only.
alter table canary add column max_latency_ms integer;
alter table canary add column max_slow_percent integer not null default 100;
-- The slow requests of all router processes when the step began.
alter table canary add column slow_before bigint not null default 0;
