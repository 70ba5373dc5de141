-- What becomes of backups is told like every other state: of the backup itself, of its proof and of its restores.

create function record_backup_status() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'backup.status', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'backup_id', new.id, 'state', new.state,
    'proof_state', new.proof_state, 'restore_state', new.restore_state)
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = new.service_id;
  return null;
end $$;
create trigger backup_requested after insert on backup for each row execute function record_backup_status();
create trigger backup_status after update of state, proof_state, restore_state on backup
  for each row when ((old.state, old.proof_state, old.restore_state)
    is distinct from (new.state, new.proof_state, new.restore_state))
  execute function record_backup_status();
