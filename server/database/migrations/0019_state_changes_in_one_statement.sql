-- Each trigger writes its row with one statement, whose plan is kept: a function in SQL is planned at every call, which took longer
-- than all the rest of accepting a deployment.

create or replace function record_environment_row() returns trigger language plpgsql as $$
declare
  changed environment := coalesce(new, old);
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, changed.mode, changed.cluster_id, tg_argv[0],
    jsonb_build_object('project_id', p.id, 'environment_id', changed.id)
  from project p where p.id = changed.project_id;
  return null;
end $$;

-- A service that goes together with its environment is told by the end of that.
create or replace function record_service_row() returns trigger language plpgsql as $$
declare
  changed service := coalesce(new, old);
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, tg_argv[0], jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', changed.id, 'kind', changed.kind, 'state', changed.state)
  from environment e join project p on p.id = e.project_id where e.id = changed.environment_id;
  return null;
end $$;

create or replace function record_observation() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'service.running', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'state', new.state)
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = new.service_id;
  return null;
end $$;

create or replace function record_deployment_status() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'deployment.status', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'deployment_request_id', new.id, 'execution_id', new.execution_id, 'action', new.action,
    'status', new.status)
  from environment e join project p on p.id = e.project_id where e.id = new.environment_id;
  return null;
end $$;

drop function record_environment_change(text, environment, jsonb);

-- Of rows without a number there is nothing to find by it.
alter table state_change drop constraint state_change_sequence_key;
create unique index state_change_sequence on state_change (sequence) where sequence is not null;
