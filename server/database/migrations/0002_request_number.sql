-- The number of an environment's last deployment request: who accepts the next one sees by it whether somebody was faster.
alter table environment add column request_number integer not null default 0;
update environment e set request_number = coalesce(
  (select max(substring(r.execution_id from '-(\d+)$')::integer) from deployment_request r where r.environment_id = e.id), 0);
