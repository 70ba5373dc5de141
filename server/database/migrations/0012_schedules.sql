-- How far the deployment rule of an environment was followed: the change of its schedule that was acted on last.
create table environment_schedule (
  environment_id uuid primary key references environment (id) on delete cascade,
  -- of the rule that was followed
  rule_version integer not null,
  -- when the schedule changed sides, and to which
  edge timestamptz not null,
  is_within boolean not null,
  -- when it changes again; null: never
  next_edge timestamptz,
  -- the services that the rule stopped, and starts again
  stopped uuid[] not null default '{}'
);
