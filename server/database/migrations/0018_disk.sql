-- What the platform takes on the disk of its engine.

-- Images that the platform had the engine fetch: written before it does, and only where the engine did not have the image. What is not in
-- here was brought by somebody else, who needs it.
create table fetched_image (
  reference text primary key,
  fetched_at timestamptz not null,
  used_at timestamptz not null
);

-- What was measured last: at most one row.
create table disk_usage (
  is_only boolean primary key default true check (is_only),
  measured_at timestamptz not null,
  usage jsonb not null
);
