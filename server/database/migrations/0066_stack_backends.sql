-- Where the state of a run is: kept by the platform, or in the backend of the files.
alter table stack_run add column backend text check (backend in ('kubernetes', 'user_provided'));
update stack_run r set backend = l.settings ->> 'backend' from release l where l.id = r.release_id;
alter table stack_run drop constraint stack_run_action_check;
alter table stack_run add constraint stack_run_action_check
  check (action in ('PLAN', 'APPLY', 'DESTROY', 'RESTORE_STATE', 'MIGRATE_STATE'));
alter table deployment_target drop constraint deployment_target_stack_action_check;
alter table deployment_target add constraint deployment_target_stack_action_check
  check (stack_action in ('PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE', 'SKIP_DESTROY', 'RESOURCES_ONLY'));
