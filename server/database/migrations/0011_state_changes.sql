-- What clients follow: every change of a state, once, in an order. Triggers write it, so that no writer can forget to; see ADR 0019.

create table state_change (
  -- In the order of writing, which is not the order of commits: nobody reads by it.
  id bigint generated always as identity primary key,
  -- Given after the commit, without gaps and in order: a reader that has seen a number has seen all before it.
  sequence bigint unique,
  created_at timestamptz not null default clock_timestamp(),
  organization_id uuid not null,
  -- Where it happened, for those who may read only a part of the organization.
  project_id uuid,
  mode text,
  cluster_id uuid,
  type text not null,
  data jsonb not null
);
create index state_change_unsealed on state_change (id) where sequence is null;

-- One row: how far numbers are given, and how far changes are deleted.
create table state_change_feed (
  only_one boolean primary key default true check (only_one),
  last_sequence bigint not null default 0,
  pruned_sequence bigint not null default 0
);
insert into state_change_feed default values;

create function record_environment_change(change_type text, place environment, details jsonb) returns void
language sql as $$
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, place.project_id, place.mode, place.cluster_id, change_type,
    jsonb_build_object('project_id', place.project_id, 'environment_id', place.id) || details
  from project p where p.id = place.project_id
$$;

create function record_environment_row() returns trigger language plpgsql as $$
begin
  perform record_environment_change(tg_argv[0], coalesce(new, old), '{}');
  return null;
end $$;
create trigger environment_created after insert on environment
  for each row execute function record_environment_row('environment.created');
create trigger environment_deleted after delete on environment
  for each row execute function record_environment_row('environment.deleted');

create function record_service_row() returns trigger language plpgsql as $$
declare
  changed service := coalesce(new, old);
  place environment;
begin
  -- A service that goes together with its environment is told by the end of that.
  select * into place from environment where id = changed.environment_id;
  if found then
    perform record_environment_change(tg_argv[0], place,
      jsonb_build_object('service_id', changed.id, 'kind', changed.kind, 'state', changed.state));
  end if;
  return null;
end $$;
create trigger service_created after insert on service for each row execute function record_service_row('service.created');
create trigger service_state after update of state on service for each row when (old.state is distinct from new.state)
  execute function record_service_row('service.state');
create trigger service_deleted after delete on service for each row execute function record_service_row('service.deleted');

create function record_observation() returns trigger language plpgsql as $$
declare
  place environment;
  kind_of text;
begin
  select e.* into place from environment e join service s on s.environment_id = e.id where s.id = new.service_id;
  select kind into kind_of from service where id = new.service_id;
  perform record_environment_change('service.running', place,
    jsonb_build_object('service_id', new.service_id, 'kind', kind_of, 'state', new.state));
  return null;
end $$;
create trigger observation_written after insert or update on observation
  for each row execute function record_observation();

create function record_deployment_status() returns trigger language plpgsql as $$
declare
  place environment;
begin
  select * into place from environment where id = new.environment_id;
  perform record_environment_change('deployment.status', place, jsonb_build_object('deployment_request_id', new.id,
    'execution_id', new.execution_id, 'action', new.action, 'status', new.status));
  return null;
end $$;
create trigger deployment_requested after insert on deployment_request
  for each row execute function record_deployment_status();
create trigger deployment_status after update of status on deployment_request
  for each row when (old.status is distinct from new.status) execute function record_deployment_status();

create function record_cluster_status() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, cluster_id, type, data)
  values (new.organization_id, new.id, 'cluster.status', jsonb_build_object('cluster_id', new.id, 'status', new.status));
  return null;
end $$;
create trigger cluster_status after update of status on cluster
  for each row when (old.status is distinct from new.status) execute function record_cluster_status();
