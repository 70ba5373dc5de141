-- Runs of Terraform stacks. A run that has not ended is the lock of its stack; so is one whose
-- container was lost, because the state may lack what it created.
create table stack_run (
  id uuid primary key,
  service_id uuid not null references service (id) on delete cascade,
  release_id uuid not null,
  request_id uuid,
  action text not null check (action in ('PLAN', 'APPLY', 'DESTROY')),
  status text not null default 'RUNNING' check (status in ('RUNNING', 'SUCCESS', 'ERROR', 'CANCELED', 'LOST')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  reason text,
  -- The summary of the plan, without sensitive values.
  plan jsonb,
  -- The plan itself, until it was applied.
  sealed_plan sealed_text,
  -- Whether the apply may have begun.
  is_applying boolean not null default false
);
create unique index stack_run_lock on stack_run (service_id) where status in ('RUNNING', 'LOST');
create index stack_run_service on stack_run (service_id, created_at desc);

-- The versions of the state of each stack; the newest one counts.
create table stack_state (
  id uuid primary key,
  service_id uuid not null references service (id) on delete cascade,
  number integer not null,
  run_id uuid not null,
  created_at timestamptz not null,
  serial bigint not null,
  lineage text not null,
  bytes integer not null,
  sealed_state sealed_text not null,
  unique (service_id, number)
);

-- The resources of the last apply. Sensitive values are masked.
create table stack_resource (
  id uuid primary key,
  service_id uuid not null references service (id) on delete cascade,
  address text not null,
  resource_type text not null,
  name text not null,
  provider text not null,
  mode text not null check (mode in ('managed', 'data')),
  attributes jsonb not null,
  extracted_at timestamptz not null
);
create index stack_resource_service on stack_resource (service_id);

-- What a request does with a stack instead of applying its plan.
alter table deployment_target add column stack_action text
  check (stack_action in ('PLAN', 'FORCE_UNLOCK', 'SKIP_DESTROY'));
