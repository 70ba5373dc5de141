-- A request may apply the plan of an earlier run.
alter table deployment_target drop constraint deployment_target_stack_action_check;
alter table deployment_target add constraint deployment_target_stack_action_check
  check (stack_action in ('PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE', 'SKIP_DESTROY', 'RESOURCES_ONLY', 'APPLY_PLAN'));

-- Histories show the run of each request.
create index stack_run_request on stack_run (request_id);
