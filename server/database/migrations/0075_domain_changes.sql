-- The proof of a custom domain and the state of its certificate change without a request, so
-- triggers report them like a change of its service by a person.
create function record_domain_change(changed_service uuid, changed_subject text) returns void language sql as $$
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'service.changed', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'subject', changed_subject)
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = changed_service
$$;

create function record_domain_proof() returns trigger language plpgsql as $$
begin
  perform record_domain_change(new.service_id, 'CUSTOM_DOMAIN');
  return null;
end $$;
create trigger custom_domain_proof after update of proof, lost_since, finding on custom_domain
  for each row when ((old.proof, old.lost_since, old.finding) is distinct from (new.proof, new.lost_since, new.finding))
  execute function record_domain_proof();

create function record_host_certificate() returns trigger language plpgsql as $$
begin
  perform record_domain_change(service_id, 'CERTIFICATE') from custom_domain where domain = new.host;
  return null;
end $$;
create trigger host_certificate_first after insert on host_certificate
  for each row execute function record_host_certificate();
create trigger host_certificate_state after update of chain, finding, failures on host_certificate
  for each row when ((old.chain, old.finding, old.failures) is distinct from (new.chain, new.finding, new.failures))
  execute function record_host_certificate();
