-- Where images come from. Secrets of `config` are one sealed text; the rest of it is answered.
create table container_registry (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default '',
  kind text not null check (kind in ('ECR', 'SCALEWAY_CR', 'DOCKER_HUB', 'GITHUB_CR', 'GITHUB_ENTERPRISE_CR', 'GITLAB_CR',
    'PUBLIC_ECR', 'DOCR', 'GENERIC_CR', 'GCP_ARTIFACT_REGISTRY', 'AZURE_CR')),
  url text not null,
  config jsonb not null default '{}',
  sealed_config text
);
create unique index container_registry_name on container_registry (organization_id, lower(name));

-- Where charts come from.
create table helm_repository (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default '',
  kind text not null check (kind in ('HTTPS', 'OCI_ECR', 'OCI_SCALEWAY_CR', 'OCI_DOCKER_HUB', 'OCI_PUBLIC_ECR', 'OCI_GENERIC_CR',
    'OCI_GITHUB_CR', 'OCI_GITLAB_CR')),
  url text not null,
  skip_tls_verification boolean not null default false,
  config jsonb not null default '{}',
  sealed_config text
);
create unique index helm_repository_name on helm_repository (organization_id, lower(name));

-- Read from the settings, so that a registry or repository in use cannot go away and its services are found.
alter table service
  add column container_registry_id uuid references container_registry generated always as (
    (case when coalesce(settings ->> 'registry_id', settings #>> '{source,image,registry_id}') ~ '^[0-9a-fA-F-]{36}$'
      then coalesce(settings ->> 'registry_id', settings #>> '{source,image,registry_id}') end)::uuid) stored,
  add column helm_repository_id uuid references helm_repository generated always as (
    (case when settings #>> '{source,helm_repository,repository}' ~ '^[0-9a-fA-F-]{36}$'
      then settings #>> '{source,helm_repository,repository}' end)::uuid) stored;
create index service_container_registry on service (container_registry_id) where container_registry_id is not null;
create index service_helm_repository on service (helm_repository_id) where helm_repository_id is not null;

-- Every organization has the public images of Docker Hub.
insert into container_registry (id, organization_id, created_at, updated_at, name, kind, url)
select gen_random_uuid(), id, now(), now(), 'Docker Hub', 'DOCKER_HUB', 'https://docker.io' from organization;
