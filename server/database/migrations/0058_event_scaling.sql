-- How a version reacts to events, from the autoscaling policy of its service at that moment.
alter table release add column event_scaling jsonb;

-- Connected clusters scale by load themselves. A number that the platform chose before would be the
-- least number of replicas there.
delete from service_scale c using service s, environment e, cluster k
where s.id = c.service_id and e.id = s.environment_id and k.id = e.cluster_id and c.replicas > 1
  and k.kubernetes = 'SELF_MANAGED' and k.sealed_kubeconfig is not null;
