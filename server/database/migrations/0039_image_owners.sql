-- By digest, images that came to the engine by the password of an organization, and whose. Builds of others use them only if their registry gives
-- them away. An image of the engine without a row is for all.
create table image_owner (
  digest text not null,
  organization_id uuid not null references organization (id) on delete cascade,
  primary key (digest, organization_id)
);

-- Whether a password was used is not known of those that were fetched before.
insert into image_owner (digest, organization_id)
  select distinct r.image ->> 'digest', p.organization_id
  from release r join service s on s.id = r.service_id join environment e on e.id = s.environment_id
    join project p on p.id = e.project_id
  where r.image ->> 'reference' like '%@sha256:%'
on conflict do nothing;
