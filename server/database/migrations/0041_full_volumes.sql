-- Services with a volume far beyond its size. They are stopped from `stopped_at` on, until a version is deployed; before that, one measurement
-- has found the volume too large, and the next one decides.
create table full_volume (
  service_id uuid primary key references service (id) on delete cascade,
  found_at timestamptz not null,
  stopped_at timestamptz,
  reason text not null
);
