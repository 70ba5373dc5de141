-- The end of a chart may keep its volumes.
alter table deployment_target drop constraint deployment_target_stack_action_check;
alter table deployment_target add constraint deployment_target_stack_action_check
  check (stack_action in ('PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE', 'SKIP_DESTROY', 'RESOURCES_ONLY', 'APPLY_PLAN',
    'KEEP_VOLUMES'));
