-- Addresses of one repository: the case of scheme and host, ".git" and slashes at the end do not count.
create function repository_address(url text) returns text language sql immutable parallel safe
  return (
    select lower(split_part(bare, '/', 1) || '//' || split_part(bare, '/', 3))
      || substr(bare, length(split_part(bare, '/', 1)) + length(split_part(bare, '/', 3)) + 3)
    from (select case when right(rtrim(url, '/'), 4) = '.git' then left(rtrim(url, '/'), -4) else rtrim(url, '/') end as bare) one
  );

-- Counts the changes of what a token presents and to whom. A contact with an earlier value says nothing about the present one.
alter table git_token add column credential_version integer not null default 1;

-- Whether a repository was readable at the last contact, by organization, address and git token.
create table repository_access (
  organization_id uuid not null references organization (id) on delete cascade,
  address text not null,
  git_token_id uuid references git_token (id) on delete cascade,
  credential_version integer,
  has_access boolean not null,
  checked_at timestamptz not null,
  constraint repository_access_key unique nulls not distinct (organization_id, address, git_token_id)
);
create index repository_access_git_token on repository_access (git_token_id) where git_token_id is not null;

-- A service with a deployed commit and the same settings and git token since then has read its repository.
insert into repository_access (organization_id, address, git_token_id, credential_version, has_access, checked_at)
  select distinct on (p.organization_id, repository_address(r.url), g.id)
    p.organization_id, repository_address(r.url), g.id, g.credential_version, true, s.last_deployment_date
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    left join git_token g on g.id = s.git_token_id,
    lateral (values (s.settings #>> '{git_repository,url}'), (s.settings #>> '{source,docker,git_repository,url}')) r(url)
  where s.deployed_commit is not null and s.last_deployment_date is not null and r.url is not null
    and s.state = 'DEPLOYED' and s.config_version = s.deployed_config_version
    and (g.id is null or g.updated_at <= s.last_deployment_date)
  order by p.organization_id, repository_address(r.url), g.id, s.last_deployment_date desc;
