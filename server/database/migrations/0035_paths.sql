-- Several ports and services answer at one host name, each at a path of its own.
alter table route
  add column path text not null default '/',
  add column rewrite text;
alter table route drop constraint route_pkey, add constraint route_pkey primary key (host, path);

-- Services of one environment may share a custom domain. Those of two environments must not.
alter table custom_domain
  drop constraint custom_domain_domain_key,
  add constraint custom_domain_service_domain_key unique (service_id, domain);
create index custom_domain_domain on custom_domain (domain);

create function keep_custom_domain_in_environment() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(new.domain, 35));
  if exists (
    select from custom_domain c join service other on other.id = c.service_id join service own on own.id = new.service_id
    where c.domain = new.domain and other.environment_id <> own.environment_id
  ) then
    raise unique_violation using message = 'a custom domain belongs to one environment',
      constraint = 'custom_domain_domain_key', table = 'custom_domain';
  end if;
  return new;
end $$;
create trigger custom_domain_in_environment before insert or update of domain on custom_domain
  for each row execute function keep_custom_domain_in_environment();
