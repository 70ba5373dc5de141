-- Plans of earlier versions have another form, and nothing shows them.
update stack_run set plan = null;

-- Restoring a version of a state is a run without a version of the stack.
alter table stack_run alter column release_id drop not null;
alter table stack_state add column restored_from integer;

-- Where the state of a run is: kept by the platform, or in the backend of the files.
alter table stack_run add column backend text check (backend in ('kubernetes', 'user_provided'));
update stack_run r set backend = l.settings ->> 'backend' from release l where l.id = r.release_id;

alter table stack_run drop constraint stack_run_action_check;
alter table stack_run add constraint stack_run_action_check
  check (action in ('PLAN', 'APPLY', 'DESTROY', 'DRIFT', 'RESTORE_STATE', 'MIGRATE_STATE'));
alter table deployment_target drop constraint deployment_target_stack_action_check;
alter table deployment_target add constraint deployment_target_stack_action_check
  check (stack_action in ('PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE', 'SKIP_DESTROY', 'RESOURCES_ONLY'));

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
