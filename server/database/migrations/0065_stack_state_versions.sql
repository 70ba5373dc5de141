-- Restoring a version of a state is a run without a version of the stack.
alter table stack_run alter column release_id drop not null;
alter table stack_run drop constraint stack_run_action_check;
alter table stack_run add constraint stack_run_action_check
  check (action in ('PLAN', 'APPLY', 'DESTROY', 'RESTORE_STATE'));
alter table stack_state add column restored_from integer;
