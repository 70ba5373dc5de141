-- What a rollback asks for.
alter table deployment_target add column wanted_release uuid;

-- The release whose version a restart or a rollback has started again.
alter table release add column copy_of uuid;
-- When it came to have the traffic; those that never had it are of no use to go back to.
alter table release add column served_at timestamptz;
-- False: its image, variables and secrets are given up; the settings stay for the history.
alter table release add column is_kept boolean not null default true;
update release r set served_at = r.created_at
where exists (select from deployment_target t where t.release_id = r.id and t.status = 'SUCCESS');
create index release_kept on release (service_id, created_at desc) where is_kept;
