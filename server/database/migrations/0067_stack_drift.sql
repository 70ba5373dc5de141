-- When the platform looks for changes that were made outside of a stack.
create table stack_drift_policy (
  service_id uuid primary key references service (id) on delete cascade,
  cron_at text,
  timezone text not null,
  next_at timestamptz
);
create index stack_drift_policy_next on stack_drift_policy (next_at) where next_at is not null;

-- When a deployment would change something although nothing was edited. Null: it would not.
alter table service add column drifted_at timestamptz;

alter table stack_run drop constraint stack_run_action_check;
alter table stack_run add constraint stack_run_action_check
  check (action in ('PLAN', 'APPLY', 'DESTROY', 'DRIFT', 'RESTORE_STATE', 'MIGRATE_STATE'));
