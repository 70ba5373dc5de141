-- The statement that accepts a request tells of it, and of the services that it queues: triggers took a sixth of its time. All other
-- changes of states are told by triggers.
drop trigger deployment_requested on deployment_request;
drop trigger service_state on service;
create trigger service_state after update of state on service
  for each row when (old.state is distinct from new.state and new.state not like '%_QUEUED')
  execute function record_service_row('service.state');
