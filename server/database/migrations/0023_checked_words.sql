-- What is checked of a column is read from the catalogue, as text, by every statement that writes a row, whichever columns it writes. What is
-- checked of a type is kept by the session, and asked where that column is written alone. Accepting a request wrote five such tables.

create domain service_kind as text check (value in ('application', 'container', 'database', 'job', 'helm', 'terraform'));
alter table service drop constraint service_kind_check, alter column kind type service_kind;

create domain environment_mode as text check (value in ('DEVELOPMENT', 'PREVIEW', 'PRODUCTION', 'STAGING'));
alter table environment drop constraint environment_mode_check, alter column mode type environment_mode;

create domain workflow_state as text check (value in ('queued', 'running', 'done', 'failed', 'canceled', 'parked'));
alter table workflow drop constraint workflow_state_check, alter column state type workflow_state;

create domain deployment_action as text check (value in ('DEPLOY', 'STOP', 'RESTART', 'DELETE', 'UNINSTALL'));
create domain request_status as text
  check (value in ('QUEUED', 'ONGOING', 'SUCCESS', 'ERROR', 'CANCELED', 'CANCELING'));
drop trigger deployment_status on deployment_request;
alter table deployment_request drop constraint deployment_request_action_check, drop constraint deployment_request_status_check,
  alter column action type deployment_action, alter column status type request_status;
create trigger deployment_status after update of status on deployment_request
  for each row when (old.status is distinct from new.status) execute function record_deployment_status();

create domain target_status as text
  check (value in ('QUEUED', 'ONGOING', 'SUCCESS', 'ERROR', 'CANCELED', 'CANCELING', 'SKIPPED'));
create domain job_event as text check (value in ('START', 'STOP', 'DELETE', 'CRON'));
alter table deployment_target drop constraint deployment_target_status_check, drop constraint deployment_target_force_event_check,
  alter column status type target_status, alter column force_event type job_event;

-- The same for what is worked out of a service's settings: short where it stands, and run only where settings are written.
create function identified(text) returns uuid language sql immutable parallel safe
  return case when $1 ~ '^[0-9a-fA-F-]{36}$' then $1::uuid end;
create function registry_of(settings jsonb) returns uuid language sql immutable parallel safe
  return identified(coalesce(settings ->> 'registry_id', settings #>> '{source,image,registry_id}'));
create function helm_repository_of(settings jsonb) returns uuid language sql immutable parallel safe
  return identified(settings #>> '{source,helm_repository,repository}');
alter table service alter column container_registry_id set expression as (registry_of(settings)),
  alter column helm_repository_id set expression as (helm_repository_of(settings));
