-- Where a TCP or UDP port is reached from outside, as its cluster reports it: host and port. Null for
-- a port of the platform's machine, and until the cluster has given the port an address.
alter table route add column outside jsonb;

-- The public address of a database, as host and port. Null while nobody knows it.
create function public_address(of_service uuid) returns jsonb language sql stable
  return (
    select address from (
      select jsonb_build_object('host', p.host, 'port', p.port) as address
      from public_port p where p.service_id = of_service
      union all
      select case when k.traffic_domain is null
        then jsonb_build_object('host', split_part(r.host, ':', 1), 'port', r.public_port) else r.outside end
      from route r join service s on s.id = r.service_id join environment e on e.id = s.environment_id
        join cluster k on k.id = e.cluster_id
      where r.service_id = of_service and r.public_port is not null
    ) known limit 1
  );
