-- Workflows of copies have the id of the copied environment or service. Those that began with an id of their own get it.
alter table workflow_step drop constraint workflow_step_workflow_id_fkey;
create temporary table renamed on commit drop as
  select w.id as former, copy.id from (
    select 'environment copy' as kind, id from environment where copying is not null
    union all select 'service copy', id from service where copying is not null
  ) copy join workflow w on w.kind = copy.kind and w.key = copy.id::text and w.id <> copy.id;
update workflow w set id = r.id from renamed r where w.id = r.former;
update workflow_step s set workflow_id = r.id from renamed r where s.workflow_id = r.former;
alter table workflow_step add constraint workflow_step_workflow_id_fkey
  foreign key (workflow_id) references workflow (id) on delete cascade;
