-- The health of a cluster decides whether services can be deployed to it, so a change of it is
-- reported like a change of its status.
create function record_cluster_health() returns trigger language plpgsql as $$
begin
  insert into state_change (organization_id, cluster_id, type, data)
  select organization_id, id, 'cluster.status', jsonb_build_object('cluster_id', id, 'status', status)
    from cluster where id = new.cluster_id;
  return null;
end $$;
create trigger cluster_health_first after insert on cluster_health
  for each row execute function record_cluster_health();
create trigger cluster_health_state after update of state on cluster_health
  for each row when (old.state is distinct from new.state) execute function record_cluster_health();
