-- The schema that the migrations give. Written by: node server/database/emit-schema.ts

create table account (
  id uuid not null,
  created_at timestamp with time zone not null,
  issuer text not null,
  subject text not null,
  name text not null,
  constraint account_issuer_subject_key UNIQUE (issuer, subject),
  constraint account_pkey PRIMARY KEY (id)
);

create table api_token (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  name text not null,
  description text not null default ''::text,
  creator_name text not null,
  key_id text not null,
  secret_hash bytea not null,
  pepper_version integer not null default 1,
  permissions text[] not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint api_token_key_id_key UNIQUE (key_id),
  constraint api_token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint api_token_permissions_check CHECK ((permissions <@ ARRAY['READ'::text, 'DEPLOY'::text, 'WRITE'::text, 'ADMIN'::text])),
  constraint api_token_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX api_token_name ON public.api_token USING btree (organization_id, lower(name));

create table cluster (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  region text not null,
  cloud_provider text not null,
  kubernetes text not null,
  is_default boolean not null default false,
  is_demo boolean not null default false,
  production boolean not null default false,
  status text not null default 'DEPLOYED'::text,
  last_deployment_date timestamp with time zone,
  constraint cluster_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint cluster_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX cluster_default ON public.cluster USING btree (organization_id) WHERE is_default;
CREATE UNIQUE INDEX cluster_name ON public.cluster USING btree (organization_id, lower(name));

create table deployment_request (
  id uuid not null,
  seq bigint not null generated always as identity,
  environment_id uuid not null,
  execution_id text not null,
  action text not null,
  status text not null default 'QUEUED'::text,
  origin text not null,
  triggered_by text not null,
  caller text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint deployment_request_action_check CHECK ((action = ANY (ARRAY['DEPLOY'::text, 'STOP'::text, 'RESTART'::text, 'DELETE'::text, 'UNINSTALL'::text]))),
  constraint deployment_request_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint deployment_request_execution_id_key UNIQUE (execution_id),
  constraint deployment_request_id_fkey FOREIGN KEY (id) REFERENCES workflow(id) ON DELETE CASCADE,
  constraint deployment_request_pkey PRIMARY KEY (id),
  constraint deployment_request_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'ONGOING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text, 'CANCELING'::text])))
);
CREATE INDEX deployment_request_environment ON public.deployment_request USING btree (environment_id, seq DESC);
CREATE UNIQUE INDEX deployment_request_one_running ON public.deployment_request USING btree (environment_id) WHERE (status = ANY (ARRAY['ONGOING'::text, 'CANCELING'::text]));
CREATE INDEX deployment_request_waiting ON public.deployment_request USING btree (environment_id, seq) WHERE (status = 'QUEUED'::text);

create table deployment_stage (
  id uuid not null,
  environment_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  name text not null,
  description text not null default ''::text,
  deployment_order integer not null,
  constraint deployment_stage_environment_id_deployment_order_key UNIQUE (environment_id, deployment_order) DEFERRABLE INITIALLY DEFERRED,
  constraint deployment_stage_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint deployment_stage_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX deployment_stage_name ON public.deployment_stage USING btree (environment_id, lower(name));

create table deployment_target (
  request_id uuid not null,
  service_id uuid not null,
  service_seq bigint not null generated always as identity,
  kind text not null,
  name text not null,
  icon_uri text not null,
  stage_name text not null,
  stage_order integer not null,
  state text not null,
  status text not null default 'QUEUED'::text,
  wanted_commit text,
  former_state text not null,
  release_id uuid,
  commit jsonb,
  reason text,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint deployment_target_pkey PRIMARY KEY (request_id, service_id),
  constraint deployment_target_request_id_fkey FOREIGN KEY (request_id) REFERENCES deployment_request(id) ON DELETE CASCADE,
  constraint deployment_target_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'ONGOING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text, 'CANCELING'::text, 'SKIPPED'::text])))
);
CREATE INDEX deployment_target_service ON public.deployment_target USING btree (service_id, service_seq DESC);

create table environment (
  id uuid not null,
  project_id uuid not null,
  cluster_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  last_updated_by uuid,
  name text not null,
  mode text not null,
  deleting boolean not null default false,
  request_number integer not null default 0,
  constraint environment_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id),
  constraint environment_mode_check CHECK ((mode = ANY (ARRAY['DEVELOPMENT'::text, 'PREVIEW'::text, 'PRODUCTION'::text, 'STAGING'::text]))),
  constraint environment_pkey PRIMARY KEY (id),
  constraint environment_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE INDEX environment_cluster ON public.environment USING btree (cluster_id);
CREATE UNIQUE INDEX environment_name ON public.environment USING btree (project_id, lower(name));

create table event (
  id uuid not null,
  seq bigint not null generated always as identity,
  organization_id uuid not null,
  project_id uuid not null,
  environment_id uuid not null,
  type text not null,
  payload_id uuid not null,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  dispatched_at timestamp with time zone,
  constraint event_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint event_payload_id_type_key UNIQUE (payload_id, type),
  constraint event_pkey PRIMARY KEY (id),
  constraint event_seq_key UNIQUE (seq)
);
CREATE INDEX event_undispatched ON public.event USING btree (seq) WHERE (dispatched_at IS NULL);

create table git_token (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  type text not null,
  sealed_token text not null,
  workspace text,
  git_api_url text not null,
  expired_at date,
  constraint git_token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint git_token_pkey PRIMARY KEY (id),
  constraint git_token_type_check CHECK ((type = ANY (ARRAY['BITBUCKET'::text, 'GITHUB'::text, 'GITLAB'::text])))
);
CREATE UNIQUE INDEX git_token_name ON public.git_token USING btree (organization_id, lower(name));

create table member (
  organization_id uuid not null,
  account_id uuid not null,
  created_at timestamp with time zone not null,
  permissions text[] not null,
  constraint member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint member_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint member_permissions_check CHECK ((permissions <@ ARRAY['READ'::text, 'DEPLOY'::text, 'WRITE'::text, 'ADMIN'::text])),
  constraint member_pkey PRIMARY KEY (organization_id, account_id)
);

create table observation (
  service_id uuid not null,
  state text not null,
  release_id uuid,
  replicas jsonb not null default '[]'::jsonb,
  reason text,
  observed_at timestamp with time zone not null,
  constraint observation_pkey PRIMARY KEY (service_id),
  constraint observation_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint observation_state_check CHECK ((state = ANY (ARRAY['absent'::text, 'running'::text, 'starting'::text, 'failing'::text, 'stopped'::text])))
);

create table organization (
  id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text,
  website_url text,
  repository text,
  logo_url text,
  icon_url text,
  admin_emails text[],
  owner uuid,
  plan text not null default 'ENTERPRISE_2025'::text,
  audit_logs_retention_in_days integer not null default 90,
  billing_deployment_restriction text,
  data_key text,
  constraint organization_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX organization_name ON public.organization USING btree (lower(name));

create table project (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  constraint project_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint project_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX project_name ON public.project USING btree (organization_id, lower(name));

create table release (
  id uuid not null,
  service_id uuid not null,
  request_id uuid not null,
  created_at timestamp with time zone not null,
  config_version bigint not null,
  settings jsonb not null,
  commit jsonb,
  image jsonb,
  variables jsonb not null,
  sealed_variables text,
  constraint release_pkey PRIMARY KEY (id),
  constraint release_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint release_service_id_request_id_key UNIQUE (service_id, request_id)
);
CREATE INDEX release_service ON public.release USING btree (service_id, created_at DESC);

create table route (
  host text not null,
  service_id uuid not null,
  port_name text not null,
  internal_port integer not null,
  is_default boolean not null,
  release_id uuid,
  endpoints jsonb not null default '[]'::jsonb,
  updated_at timestamp with time zone not null,
  constraint route_pkey PRIMARY KEY (host),
  constraint route_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX route_service ON public.route USING btree (service_id);

create table route_version (
  only_row boolean not null default true,
  version bigint not null,
  constraint route_version_only_row_check CHECK (only_row),
  constraint route_version_pkey PRIMARY KEY (only_row)
);

create table service (
  id uuid not null,
  environment_id uuid not null,
  stage_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  kind text not null,
  name text not null,
  description text not null default ''::text,
  is_skipped boolean not null default false,
  settings jsonb not null,
  git_token_id uuid,
  state text not null default 'READY'::text,
  config_version bigint not null default 1,
  deployed_config_version bigint,
  release_id uuid,
  last_deployment_date timestamp with time zone,
  deployed_commit jsonb,
  constraint service_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint service_git_token_id_fkey FOREIGN KEY (git_token_id) REFERENCES git_token(id),
  constraint service_kind_check CHECK ((kind = ANY (ARRAY['application'::text, 'container'::text, 'database'::text, 'job'::text, 'helm'::text, 'terraform'::text]))),
  constraint service_pkey PRIMARY KEY (id),
  constraint service_stage_id_fkey FOREIGN KEY (stage_id) REFERENCES deployment_stage(id)
);
CREATE INDEX service_git_token ON public.service USING btree (git_token_id) WHERE (git_token_id IS NOT NULL);
CREATE UNIQUE INDEX service_name ON public.service USING btree (environment_id, lower(name));
CREATE INDEX service_stage ON public.service USING btree (stage_id);

create table setting (
  key text not null,
  value jsonb not null,
  constraint setting_pkey PRIMARY KEY (key)
);

create table variable (
  id uuid not null,
  project_id uuid,
  environment_id uuid,
  service_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  key text not null,
  variable_type text not null,
  is_secret boolean not null,
  value text,
  sealed_value text,
  mount_path text,
  description text not null default ''::text,
  enable_interpolation_in_file boolean not null default false,
  base_id uuid,
  base_built_in_id uuid,
  owned_by text not null default ''::text,
  constraint variable_base_id_fkey FOREIGN KEY (base_id) REFERENCES variable(id) ON DELETE CASCADE,
  constraint variable_check CHECK ((num_nonnulls(project_id, environment_id, service_id) = 1)),
  constraint variable_check1 CHECK (((is_secret = (value IS NULL)) OR (variable_type = 'ALIAS'::text))),
  constraint variable_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint variable_pkey PRIMARY KEY (id),
  constraint variable_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint variable_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint variable_variable_type_check CHECK ((variable_type = ANY (ARRAY['VALUE'::text, 'ALIAS'::text, 'OVERRIDE'::text, 'FILE'::text])))
);
CREATE INDEX variable_base ON public.variable USING btree (base_id) WHERE (base_id IS NOT NULL);
CREATE UNIQUE INDEX variable_environment_key ON public.variable USING btree (environment_id, key) WHERE (environment_id IS NOT NULL);
CREATE UNIQUE INDEX variable_project_key ON public.variable USING btree (project_id, key) WHERE (project_id IS NOT NULL);
CREATE UNIQUE INDEX variable_service_key ON public.variable USING btree (service_id, key) WHERE (service_id IS NOT NULL);

create table webhook (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  kind text not null,
  target_url text not null,
  sealed_target_secret text,
  sealed_signing_secret text not null,
  description text not null default ''::text,
  enabled boolean not null,
  events text[] not null,
  project_names_filter text[] not null default '{}'::text[],
  environment_types_filter text[] not null default '{}'::text[],
  failing_since timestamp with time zone,
  constraint webhook_kind_check CHECK ((kind = ANY (ARRAY['STANDARD'::text, 'SLACK'::text]))),
  constraint webhook_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint webhook_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_organization ON public.webhook USING btree (organization_id);

create table webhook_delivery (
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_seq bigint not null,
  created_at timestamp with time zone not null,
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null,
  target_url_used text,
  response_status_code integer,
  failure text,
  finished_at timestamp with time zone,
  constraint webhook_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES event(id) ON DELETE CASCADE,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_delivery_webhook_id_event_id_key UNIQUE (webhook_id, event_id),
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (next_attempt_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_webhook ON public.webhook_delivery USING btree (webhook_id, created_at DESC);

create table workflow (
  id uuid not null,
  seq bigint not null generated always as identity,
  kind text not null,
  key text not null,
  state text not null default 'queued'::text,
  input jsonb not null,
  error text,
  cancel_requested boolean not null default false,
  owner text,
  fence bigint not null default 0,
  lease_until timestamp with time zone,
  attempts integer not null default 0,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint workflow_pkey PRIMARY KEY (id),
  constraint workflow_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text, 'canceled'::text, 'parked'::text])))
);
CREATE UNIQUE INDEX workflow_one_running ON public.workflow USING btree (key) WHERE (state = 'running'::text);
CREATE INDEX workflow_waiting ON public.workflow USING btree (key, seq) WHERE (state = 'queued'::text);

create table workflow_step (
  workflow_id uuid not null,
  name text not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  status text,
  result jsonb,
  error text,
  constraint workflow_step_pkey PRIMARY KEY (workflow_id, name),
  constraint workflow_step_status_check CHECK ((status = ANY (ARRAY['SUCCESS'::text, 'ERROR'::text, 'CANCEL'::text, 'SKIP'::text]))),
  constraint workflow_step_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflow(id) ON DELETE CASCADE
);
