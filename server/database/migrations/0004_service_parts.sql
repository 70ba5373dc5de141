-- What hangs on a service beside its settings.

-- The advanced settings as they were sent last: keys of contract/services/advanced-settings.ts and ones that are not known here.
alter table service add column advanced_settings jsonb not null default '{}';
alter table release add column advanced_settings jsonb not null default '{}';
-- those of its labels groups
alter table release add column labels jsonb not null default '{}';

-- Which changes of a repository deploy a service by themselves.
create table deployment_restriction (
  id uuid primary key,
  service_id uuid not null references service on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  mode text not null check (mode in ('EXCLUDE', 'MATCH')),
  type text not null check (type in ('PATH')),
  value text not null
);
create unique index deployment_restriction_value on deployment_restriction (service_id, mode, type, value);

-- Host names of users. One name belongs to one service of the whole platform.
create table custom_domain (
  id uuid primary key,
  service_id uuid not null references service on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- lower case; a wildcard begins with *.
  domain text not null unique,
  generate_certificate boolean not null,
  use_cdn boolean not null
);
create index custom_domain_service on custom_domain (service_id);

-- null: a host name of the platform's own
alter table route add column custom_domain_id uuid references custom_domain on delete cascade;
create index route_custom_domain on route (custom_domain_id) where custom_domain_id is not null;

-- Annotations or labels under one name, for many services.
create table tag_group (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  kind text not null check (kind in ('annotations', 'labels')),
  name text not null,
  -- {key, value} of annotations, {key, value, propagate_to_cloud_provider} of labels
  entries jsonb not null,
  -- of annotations: the objects that get them
  scopes text[] not null default '{}'
);
create unique index tag_group_name on tag_group (organization_id, kind, lower(name));

create table service_tag_group (
  service_id uuid not null references service on delete cascade,
  group_id uuid not null references tag_group,
  primary key (service_id, group_id)
);
create index service_tag_group_group on service_tag_group (group_id);

create table cluster_tag_group (
  cluster_id uuid not null references cluster on delete cascade,
  group_id uuid not null references tag_group,
  primary key (cluster_id, group_id)
);
create index cluster_tag_group_group on cluster_tag_group (group_id);

-- How a service is to scale by events: kept and answered as it is.
create table autoscaling_policy (
  id uuid primary key,
  service_id uuid not null unique references service on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  mode text not null check (mode in ('KEDA')),
  polling_interval_seconds integer not null,
  cooldown_period_seconds integer not null,
  -- with ids and times of their own, as they are answered
  scalers jsonb not null
);
