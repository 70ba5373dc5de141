-- Credentials for providers of clouds. They are kept for clients; nothing here signs in with them.
create table credentials (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  cloud_provider text not null check (cloud_provider in ('AWS', 'SCW', 'GCP', 'AZURE', 'ON_PREMISE')),
  object_type text not null check (object_type in ('AWS', 'AWS_ROLE', 'EKS_ANYWHERE_VSPHERE', 'SCW', 'GCP',
    'GCP_WORKLOAD_IDENTITY_FEDERATION', 'AZURE', 'OTHER')),
  -- a row of server/credentials/variants.ts
  variant text not null,
  name text not null,
  -- what may be answered, by the names that it has there
  settings jsonb not null default '{}',
  -- the rest, as one JSON text
  sealed_secrets text
);
create index credentials_organization on credentials (organization_id, created_at);

alter table cluster
  -- what runs its workloads; null: nothing of this installation, it is a record
  add column engine text check (engine in ('local')),
  add column credentials_id uuid references credentials,
  -- what its schema describes beside the columns, defaults filled in
  add column settings jsonb not null default '{}',
  -- as they were sent last: keys of contract/services/cluster-settings.ts and ones that are not known here
  add column advanced_settings jsonb not null default '{}',
  add column routes jsonb not null default '[]',
  add column sealed_kubeconfig text,
  -- without its secrets; null: the platform's own names
  add column dns_provider jsonb,
  add column sealed_dns_secrets text,
  -- grows with every change of what a deployment of the cluster would bring there
  add column config_version bigint not null default 1,
  add column deployed_config_version bigint,
  -- of the platform, at the last deployment
  add column platform_version text not null default '',
  -- of the last operation
  add column operation_number integer not null default 0;
create index cluster_credentials on cluster (credentials_id) where credentials_id is not null;
update cluster set engine = 'local', deployed_config_version = 1 where is_demo;
with made as (
  insert into credentials (id, organization_id, created_at, updated_at, cloud_provider, object_type, variant, name)
  select gen_random_uuid(), organization_id, created_at, created_at, 'ON_PREMISE', 'OTHER', 'ON_PREMISE', name
  from cluster where is_demo
  returning id, organization_id
)
update cluster c set credentials_id = made.id from made where c.is_demo and c.organization_id = made.organization_id;

-- Who keeps a cluster as it is, why, and for how long.
create table cluster_lock (
  cluster_id uuid primary key references cluster on delete cascade,
  reason text not null,
  -- null: until somebody takes it away
  ttl_in_days integer check (ttl_in_days >= 1),
  locked_at timestamptz not null,
  owner_name text not null
);

-- One deployment or upgrade of a cluster. Its id is its workflow's.
create table cluster_operation (
  id uuid primary key references workflow on delete cascade,
  cluster_id uuid not null references cluster on delete cascade,
  execution_id text not null unique,
  kind text not null check (kind in ('DEPLOY', 'UPGRADE', 'DRY_RUN')),
  triggered_by text not null,
  -- what a dry run puts back
  former_status text not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index cluster_operation_cluster on cluster_operation (cluster_id);
-- one at a time holds the cluster
create unique index cluster_operation_one on cluster_operation (cluster_id) where finished_at is null;

create table cluster_log (
  seq bigint generated always as identity primary key,
  cluster_id uuid not null references cluster on delete cascade,
  operation_id uuid not null references cluster_operation on delete cascade,
  at timestamptz not null,
  step text not null,
  message text not null,
  is_error boolean not null default false
);
create index cluster_log_cluster on cluster_log (cluster_id, seq);
create index cluster_log_operation on cluster_log (operation_id);
