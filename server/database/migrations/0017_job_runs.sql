-- Runs of jobs, and when deployed cron jobs run next.

create table job_schedule (
  service_id uuid primary key references service (id) on delete cascade,
  -- The version that runs.
  release_id uuid not null,
  scheduled_at text not null,
  timezone text not null,
  -- Goes forward only, whatever the clock does. Null: it never comes again.
  next_at timestamptz
);
create index job_schedule_next on job_schedule (next_at) where next_at is not null;

create table job_run (
  -- Of a cron run, the id of its workflow, too.
  id uuid primary key,
  service_id uuid not null references service (id) on delete cascade,
  release_id uuid not null,
  request_id uuid,
  "trigger" text not null check ("trigger" in ('CRON', 'FORCED', 'DEPLOYMENT')),
  event text not null check (event in ('START', 'STOP', 'DELETE', 'CRON')),
  status text not null default 'QUEUED'
    check (status in ('QUEUED', 'RUNNING', 'SUCCESS', 'ERROR', 'CANCELED', 'SKIPPED')),
  scheduled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Of the first try and of the last, by the engine's clock.
  started_at timestamptz,
  finished_at timestamptz,
  tries integer not null default 0,
  exit_code integer,
  reason text,
  unique (service_id, scheduled_at)
);
create index job_run_service on job_run (service_id, created_at desc);
create index job_run_active on job_run (service_id) where status in ('QUEUED', 'RUNNING');

-- What of a job a deployment was asked to run, in place of what it runs by itself.
alter table deployment_target add column force_event text check (force_event in ('START', 'STOP', 'DELETE', 'CRON'));
