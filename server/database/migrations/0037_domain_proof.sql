-- A custom domain gets traffic once its owner has proven it. Several organizations may ask for one name; one of them has it proven.
alter table custom_domain
  add column organization_id uuid references organization on delete cascade,
  -- the name without *.
  add column base text not null generated always as (ltrim(domain, '*.')) stored,
  -- null: not proven, no traffic
  add column proof text check (proof in ('CNAME', 'TXT', 'WAIVED', 'NO_PUBLIC_DNS', 'BEFORE_REQUIRED')),
  add column proven_at timestamptz,
  -- since when DNS no longer holds the proof
  add column lost_since timestamptz,
  -- since when it waits for a proof
  add column pending_since timestamptz not null default now(),
  add column asked_at timestamptz,
  -- null: DNS is not asked again before the domain is saved again
  add column next_ask_at timestamptz default now(),
  -- how often DNS was asked in vain
  add column asks int not null default 0,
  -- what is missing, as DNS was last asked
  add column finding text,
  add constraint custom_domain_proof_has_time check ((proof is null) = (proven_at is null));
update custom_domain c set organization_id = p.organization_id, proof = 'BEFORE_REQUIRED', proven_at = now()
from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
where s.id = c.service_id;
alter table custom_domain alter column organization_id set not null, alter column pending_since drop default,
  alter column next_ask_at drop default;
create index custom_domain_organization on custom_domain (organization_id);
create index custom_domain_base on custom_domain (base) where proof is not null;
create index custom_domain_below on custom_domain (reverse(base) text_pattern_ops) where proof is not null;
create index custom_domain_due on custom_domain (next_ask_at) where next_ask_at is not null;

-- Services of one environment may share a domain. Another environment of the organization must not have it, and only one
-- organization has it proven.
create or replace function keep_custom_domain_in_environment() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(new.domain, 35));
  if exists (
    select from custom_domain c join service other on other.id = c.service_id join service own on own.id = new.service_id
    where c.domain = new.domain and c.id <> new.id and case when c.organization_id = new.organization_id
      then other.environment_id <> own.environment_id
      else c.proof is not null and new.proof is not null end
  ) then
    raise unique_violation using message = 'a custom domain belongs to one environment',
      constraint = 'custom_domain_domain_key', table = 'custom_domain';
  end if;
  return new;
end $$;
drop trigger custom_domain_in_environment on custom_domain;
create trigger custom_domain_in_environment before insert or update of domain, proof on custom_domain
  for each row execute function keep_custom_domain_in_environment();
