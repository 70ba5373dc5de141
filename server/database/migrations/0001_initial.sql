-- One row a noun. Ids are UUIDv7 made by the server. Names are unique per parent by lower(name).

create table setting (
  key text primary key,
  value jsonb not null
);

create table organization (
  id uuid primary key,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text,
  website_url text,
  repository text,
  logo_url text,
  icon_url text,
  admin_emails text[],
  owner uuid,
  plan text not null default 'ENTERPRISE_2025',
  audit_logs_retention_in_days integer not null default 90,
  billing_deployment_restriction text,
  -- the organization's data key, wrapped by the master key
  data_key text
);
create unique index organization_name on organization (lower(name));

-- People who come with a JWT: identity is issuer and subject, never an e-mail address.
create table account (
  id uuid primary key,
  created_at timestamptz not null,
  issuer text not null,
  subject text not null,
  name text not null,
  unique (issuer, subject)
);

create table member (
  organization_id uuid not null references organization on delete cascade,
  account_id uuid not null references account on delete cascade,
  created_at timestamptz not null,
  permissions text[] not null check (permissions <@ array['READ', 'DEPLOY', 'WRITE', 'ADMIN']),
  primary key (organization_id, account_id)
);

create table api_token (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  name text not null,
  description text not null default '',
  creator_name text not null,
  key_id text not null unique,
  -- HMAC-SHA-256 of the secret under the pepper of that version
  secret_hash bytea not null,
  pepper_version integer not null default 1,
  permissions text[] not null check (permissions <@ array['READ', 'DEPLOY', 'WRITE', 'ADMIN']),
  expires_at timestamptz,
  last_used_at timestamptz
);
create unique index api_token_name on api_token (organization_id, lower(name));

create table cluster (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default '',
  region text not null,
  cloud_provider text not null,
  kubernetes text not null,
  is_default boolean not null default false,
  is_demo boolean not null default false,
  production boolean not null default false,
  status text not null default 'DEPLOYED',
  last_deployment_date timestamptz
);
create unique index cluster_name on cluster (organization_id, lower(name));
create unique index cluster_default on cluster (organization_id) where is_default;

create table git_token (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default '',
  type text not null check (type in ('BITBUCKET', 'GITHUB', 'GITLAB')),
  sealed_token text not null,
  workspace text,
  git_api_url text not null,
  expired_at date
);
create unique index git_token_name on git_token (organization_id, lower(name));

create table project (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''
);
create unique index project_name on project (organization_id, lower(name));

create table environment (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  cluster_id uuid not null references cluster,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  last_updated_by uuid,
  name text not null,
  mode text not null check (mode in ('DEVELOPMENT', 'PREVIEW', 'PRODUCTION', 'STAGING')),
  -- a deletion of the whole environment was asked for: the row goes when its services are gone
  deleting boolean not null default false
);
create unique index environment_name on environment (project_id, lower(name));
create index environment_cluster on environment (cluster_id);

create table deployment_stage (
  id uuid primary key,
  environment_id uuid not null references environment on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  name text not null,
  description text not null default '',
  deployment_order integer not null,
  unique (environment_id, deployment_order) deferrable initially deferred
);
create unique index deployment_stage_name on deployment_stage (environment_id, lower(name));

create table service (
  id uuid primary key,
  environment_id uuid not null references environment on delete cascade,
  stage_id uuid not null references deployment_stage,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  kind text not null check (kind in ('application', 'container', 'database', 'job', 'helm', 'terraform')),
  name text not null,
  description text not null default '',
  is_skipped boolean not null default false,
  -- what the kind's schema describes, defaults filled in
  settings jsonb not null,
  git_token_id uuid references git_token,
  -- StateEnum, as of the last deployment request
  state text not null default 'READY',
  -- grows with everything that changes what would be deployed, variables included
  config_version bigint not null default 1,
  -- config_version of the last successful deployment
  deployed_config_version bigint,
  -- the release that traffic goes to
  release_id uuid,
  last_deployment_date timestamptz,
  -- of the release that traffic goes to: {id, created_at, message, author_name}
  deployed_commit jsonb
);
create unique index service_name on service (environment_id, lower(name));
create index service_stage on service (stage_id);
create index service_git_token on service (git_token_id) where git_token_id is not null;

create table variable (
  id uuid primary key,
  project_id uuid references project on delete cascade,
  environment_id uuid references environment on delete cascade,
  service_id uuid references service on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  key text not null,
  variable_type text not null check (variable_type in ('VALUE', 'ALIAS', 'OVERRIDE', 'FILE')),
  is_secret boolean not null,
  -- exactly one of the two where the type carries a value; sealed is "v1.<key id>.<nonce>.<ciphertext and tag>"
  value text,
  sealed_value text,
  mount_path text,
  description text not null default '',
  enable_interpolation_in_file boolean not null default false,
  -- the variable that an alias or override stands on; a built-in has no row, so its derived id is kept without a reference
  base_id uuid references variable on delete cascade,
  base_built_in_id uuid,
  owned_by text not null default '',
  check (num_nonnulls(project_id, environment_id, service_id) = 1),
  check (is_secret = (value is null) or variable_type = 'ALIAS')
);
create unique index variable_project_key on variable (project_id, key) where project_id is not null;
create unique index variable_environment_key on variable (environment_id, key) where environment_id is not null;
create unique index variable_service_key on variable (service_id, key) where service_id is not null;
create index variable_base on variable (base_id) where base_id is not null;

-- Durable workflows: see server/workflows/index.ts.
create table workflow (
  id uuid primary key,
  seq bigint generated always as identity,
  kind text not null,
  key text not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'canceled', 'parked')),
  input jsonb not null,
  error text,
  cancel_requested boolean not null default false,
  owner text,
  fence bigint not null default 0,
  lease_until timestamptz,
  -- claims since the last step that ended: the poison guard's count
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create unique index workflow_one_running on workflow (key) where state = 'running';
create index workflow_waiting on workflow (key, seq) where state = 'queued';

create table workflow_step (
  workflow_id uuid not null references workflow on delete cascade,
  name text not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  status text check (status in ('SUCCESS', 'ERROR', 'CANCEL', 'SKIP')),
  result jsonb,
  error text,
  primary key (workflow_id, name)
);

-- One asked-for deploy, stop, restart, uninstall or delete of one or more services of an environment. Its id is its workflow's.
create table deployment_request (
  id uuid primary key references workflow on delete cascade,
  seq bigint generated always as identity,
  environment_id uuid not null references environment on delete cascade,
  execution_id text not null unique,
  action text not null check (action in ('DEPLOY', 'STOP', 'RESTART', 'DELETE', 'UNINSTALL')),
  status text not null default 'QUEUED' check (status in ('QUEUED', 'ONGOING', 'SUCCESS', 'ERROR', 'CANCELED', 'CANCELING')),
  origin text not null,
  triggered_by text not null,
  -- token or account: waiting requests of the same caller merge
  caller text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index deployment_request_environment on deployment_request (environment_id, seq desc);
create unique index deployment_request_one_running on deployment_request (environment_id) where status in ('ONGOING', 'CANCELING');
create index deployment_request_waiting on deployment_request (environment_id, seq) where status = 'QUEUED';

-- What a request does to one service. No reference to service: history outlives it.
create table deployment_target (
  request_id uuid not null references deployment_request on delete cascade,
  service_id uuid not null,
  service_seq bigint generated always as identity,
  kind text not null,
  name text not null,
  icon_uri text not null,
  stage_name text not null,
  stage_order integer not null,
  state text not null,
  status text not null default 'QUEUED' check (status in ('QUEUED', 'ONGOING', 'SUCCESS', 'ERROR', 'CANCELED', 'CANCELING', 'SKIPPED')),
  -- asked for with the request: a commit, or nothing for the head of the branch
  wanted_commit text,
  -- what a cancelled waiting request puts back
  former_state text not null,
  release_id uuid,
  commit jsonb,
  reason text,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (request_id, service_id)
);
create index deployment_target_service on deployment_target (service_id, service_seq desc);

-- An immutable copy of everything that one deployed version consisted of.
create table release (
  id uuid primary key,
  service_id uuid not null references service on delete cascade,
  request_id uuid not null,
  created_at timestamptz not null,
  config_version bigint not null,
  settings jsonb not null,
  commit jsonb,
  image jsonb,
  variables jsonb not null,
  -- secret values and secret file contents by key, sealed as one text
  sealed_variables text,
  unique (service_id, request_id)
);
create index release_service on release (service_id, created_at desc);

-- What an engine was last seen to run for a service.
create table observation (
  service_id uuid primary key references service on delete cascade,
  state text not null check (state in ('absent', 'running', 'starting', 'failing', 'stopped')),
  release_id uuid,
  replicas jsonb not null default '[]',
  reason text,
  observed_at timestamptz not null
);

-- Where the published ports of a service answer; the router gets all of these.
create table route (
  host text primary key,
  service_id uuid not null references service on delete cascade,
  port_name text not null,
  internal_port integer not null,
  is_default boolean not null,
  release_id uuid,
  endpoints jsonb not null default '[]',
  updated_at timestamptz not null
);
create index route_service on route (service_id);
-- one row: grows with every change of a route, in the same transaction
create table route_version (only_row boolean primary key default true check (only_row), version bigint not null);
insert into route_version (version) values (1);

create table webhook (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  kind text not null check (kind in ('STANDARD', 'SLACK')),
  target_url text not null,
  -- given by the user: also sent as plain header
  sealed_target_secret text,
  -- made by us: signs when the user gave none
  sealed_signing_secret text not null,
  description text not null default '',
  enabled boolean not null,
  events text[] not null,
  project_names_filter text[] not null default '{}',
  environment_types_filter text[] not null default '{}',
  failing_since timestamptz
);
create index webhook_organization on webhook (organization_id);

-- The outbox: written in the transaction of the change it tells.
create table event (
  id uuid primary key,
  seq bigint generated always as identity unique,
  organization_id uuid not null references organization on delete cascade,
  project_id uuid not null,
  environment_id uuid not null,
  -- DEPLOYMENT_STARTED, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_FAILURE, DEPLOYMENT_CANCELLED
  type text not null,
  payload_id uuid not null,
  payload jsonb not null,
  created_at timestamptz not null,
  dispatched_at timestamptz,
  unique (payload_id, type)
);
create index event_undispatched on event (seq) where dispatched_at is null;

create table webhook_delivery (
  id uuid primary key,
  webhook_id uuid not null references webhook on delete cascade,
  event_id uuid not null references event on delete cascade,
  event_seq bigint not null,
  created_at timestamptz not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  target_url_used text,
  response_status_code integer,
  failure text,
  finished_at timestamptz,
  unique (webhook_id, event_id)
);
create index webhook_delivery_due on webhook_delivery (next_attempt_at) where state = 'pending';
create index webhook_delivery_webhook on webhook_delivery (webhook_id, created_at desc);
