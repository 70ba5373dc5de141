-- Copies of environments and services that are being made, were made, or could not be made: what is removed again keeps its row here.
create table copy_record (
  -- The environment or service that is made.
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  -- Where: for those who may read only a part of the organization.
  project_id uuid not null,
  mode text not null,
  environment_id uuid not null,
  service_id uuid,
  source_id uuid not null,
  name text not null,
  with_data boolean not null,
  status text not null default 'ONGOING' check (status in ('ONGOING', 'SUCCESS', 'ERROR', 'CANCELED')),
  copied_bytes bigint not null default 0,
  reason text,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index copy_record_newest on copy_record (organization_id, created_at desc);

create function record_copy_status() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, project_id, mode, type, data)
  values (new.organization_id, new.project_id, new.mode, 'copy.status', jsonb_build_object('project_id', new.project_id,
    'environment_id', new.environment_id, 'copy_id', new.id, 'status', new.status));
  return null;
end $$;
create trigger copy_requested after insert on copy_record for each row execute function record_copy_status();
create trigger copy_status after update of status on copy_record
  for each row when (old.status is distinct from new.status) execute function record_copy_status();
