-- Numbers about the traffic of services. The layout of `counts` is in contract/traffic-counts.ts.

-- Adds two arrays. A sum stops far below the limit of its type, because routers of connected
-- clusters are not trusted.
create function add_counts(a bigint[], b bigint[]) returns bigint[] language sql immutable parallel safe
  return (select array_agg(least(coalesce(x, 0) + coalesce(y, 0), 4611686018427387904) order by place)
    from unnest(a, b) with ordinality as pair (x, y, place));

-- The numbers of one service in a window of so many seconds. Coarser windows are sums of finer
-- ones, which are deleted earlier. A row of a minute changes until the minute is over.
create table traffic_window (
  service_id uuid not null references service on delete cascade,
  seconds integer not null,
  starts_at timestamptz not null,
  counts bigint[] not null,
  primary key (service_id, seconds, starts_at)
) with (fillfactor = 85);
create index traffic_window_age on traffic_window (seconds, starts_at);

-- Windows of so many seconds are complete up to this time. Later ones are read from finer windows.
create table traffic_summary (
  seconds integer primary key,
  complete_until timestamptz not null
);

-- All traffic since a service exists, for counters that never decrease.
create table traffic_total (
  service_id uuid primary key references service on delete cascade,
  counts bigint[] not null
) with (fillfactor = 70);

-- The last stored batch of each router process, so that none is added twice.
create table traffic_source (
  id uuid primary key,
  batch bigint not null,
  stored_at timestamptz not null
);
