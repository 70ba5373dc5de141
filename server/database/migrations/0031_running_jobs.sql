-- No engine is asked what runs of a job: its runs tell. What was left out or was ended by somebody says nothing.

create function job_state(job uuid, state text) returns text language plpgsql stable as $$
begin
  if exists (select from job_run r where r.service_id = job and r.status = 'RUNNING') then return 'running'; end if;
  if state in ('STOPPED', 'DELETED') then return 'stopped'; end if;
  return coalesce((
    select case r.status when 'SUCCESS' then 'completed' else 'failing' end from job_run r
    where r.service_id = job and r.status in ('SUCCESS', 'ERROR') order by r.finished_at desc, r.id desc limit 1), 'stopped');
end $$;

-- The argument names the column that holds the job.
create function record_job_state() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'service.running', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'state', job_state(s.id, s.state))
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = (to_jsonb(new) ->> tg_argv[0])::uuid;
  return null;
end $$;
create trigger job_run_status after update of status on job_run
  for each row when (old.status is distinct from new.status and new.status <> 'SKIPPED'
    and not (old.status = 'QUEUED' and new.status = 'CANCELED'))
  execute function record_job_state('service_id');
create trigger job_stopped after update of state on service
  for each row when (new.kind = 'job' and (old.state in ('STOPPED', 'DELETED')) <> (new.state in ('STOPPED', 'DELETED')))
  execute function record_job_state('id');
