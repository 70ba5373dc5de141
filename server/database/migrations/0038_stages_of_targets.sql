-- The stage in which a request acts on a service, for the lines of its log. A stage that was deleted keeps its id here.
alter table deployment_target add column stage_id uuid;
update deployment_target t set stage_id = g.id
  from deployment_request r join deployment_stage g on g.environment_id = r.environment_id
  where r.id = t.request_id and g.name = t.stage_name;
