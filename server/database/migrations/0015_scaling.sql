-- How many replicas a service has while its release is wished, where that is not the least its settings ask for: what load and
-- idleness have made of it.
create table service_scale (
  service_id uuid primary key references service (id) on delete cascade,
  -- 0: asleep.
  replicas integer not null check (replicas >= 0),
  -- A request has come for it, and it is not up yet.
  waking boolean not null default false,
  changed_at timestamptz not null
);
