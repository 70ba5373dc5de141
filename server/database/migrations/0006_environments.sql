-- When an environment is to run. One rule an environment, made with it.
create table environment_deployment_rule (
  id uuid primary key,
  environment_id uuid not null unique references environment on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  on_demand_preview boolean not null default false,
  auto_preview boolean not null default false,
  auto_stop boolean not null default false,
  -- a name of the IANA time zone database; the times are those of its clocks
  timezone text not null default 'UTC',
  start_time time not null default '08:00',
  stop_time time not null default '19:00',
  weekdays text[] not null default array['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']
    check (weekdays <@ array['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'])
);
insert into environment_deployment_rule (id, environment_id, created_at, updated_at)
  select gen_random_uuid(), id, created_at, created_at from environment;

-- What new environments of a project get: the first rule, by its priority, whose wildcard matches the name.
create table project_deployment_rule (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  cluster_id uuid not null references cluster on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default '',
  mode text not null check (mode in ('DEVELOPMENT', 'PREVIEW', 'PRODUCTION', 'STAGING')),
  auto_stop boolean not null,
  timezone text not null,
  start_time time not null,
  stop_time time not null,
  weekdays text[] not null
    check (weekdays <@ array['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']),
  wildcard text not null,
  -- dense from 0
  priority_index integer not null,
  unique (project_id, priority_index) deferrable initially deferred
);
create unique index project_deployment_rule_name on project_deployment_rule (project_id, lower(name));
create index project_deployment_rule_cluster on project_deployment_rule (cluster_id);

-- The environment that this one is being made a copy of; until the copy is whole, nothing else is written into it.
alter table environment add column copying uuid;

-- What runs or waits, however long the history is.
create index deployment_request_active on deployment_request (environment_id, seq)
  where status in ('QUEUED', 'ONGOING', 'CANCELING');
