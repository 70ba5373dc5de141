-- The schema that the migrations give. Written by: node server/database/emit-schema.ts

create table account (
  id uuid not null,
  created_at timestamp with time zone not null,
  issuer text not null,
  subject text not null,
  name text not null,
  updated_at timestamp with time zone not null,
  email text,
  first_name text not null default ''::text,
  last_name text not null default ''::text,
  communication_email text,
  last_used_at timestamp with time zone,
  signed_out_at timestamp with time zone,
  outside_signed_in_at timestamp with time zone,
  outside_email text,
  tokens_since timestamp with time zone,
  constraint account_issuer_subject_key UNIQUE (issuer, subject),
  constraint account_pkey PRIMARY KEY (id)
);
CREATE INDEX account_email ON public.account USING btree (lower(email), created_at, id) WHERE (email IS NOT NULL);

create table account_link (
  token_hash bytea not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint account_link_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint account_link_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX account_link_organization ON public.account_link USING btree (organization_id);

create table account_password (
  account_id uuid not null,
  updated_at timestamp with time zone not null,
  salt bytea not null,
  hash bytea not null,
  cost integer not null,
  block_size integer not null,
  parallelization integer not null,
  constraint account_password_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_password_pkey PRIMARY KEY (account_id)
);

create table acme_account (
  directory text not null,
  url text not null,
  sealed_key text not null,
  created_at timestamp with time zone not null,
  root text,
  constraint acme_account_pkey PRIMARY KEY (directory)
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
  permissions text[] not null default '{}'::text[],
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  role text,
  custom_role_id uuid,
  custom_rights jsonb,
  creator_account_id uuid,
  constraint api_token_custom_rights CHECK (((custom_role_id IS NULL) = (custom_rights IS NULL))),
  constraint api_token_key_id_key UNIQUE (key_id),
  constraint api_token_one_role CHECK ((num_nonnulls(NULLIF(permissions, '{}'::text[]), role, custom_role_id) = 1)),
  constraint api_token_organization_id_creator_account_id_fkey FOREIGN KEY (organization_id, creator_account_id) REFERENCES member(organization_id, account_id) ON DELETE CASCADE,
  constraint api_token_organization_id_custom_role_id_fkey FOREIGN KEY (organization_id, custom_role_id) REFERENCES custom_role(organization_id, id),
  constraint api_token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint api_token_permissions_check CHECK ((permissions <@ ARRAY['READ'::text, 'DEPLOY'::text, 'WRITE'::text, 'ADMIN'::text])),
  constraint api_token_pkey PRIMARY KEY (id),
  constraint api_token_role_check CHECK ((role = ANY (ARRAY['OWNER'::text, 'ADMIN'::text, 'DEVOPS'::text, 'BILLING_MANAGER'::text, 'VIEWER'::text])))
);
CREATE INDEX api_token_creator ON public.api_token USING btree (organization_id, creator_account_id) WHERE (creator_account_id IS NOT NULL);
CREATE INDEX api_token_custom_role ON public.api_token USING btree (custom_role_id) WHERE (custom_role_id IS NOT NULL);
CREATE UNIQUE INDEX api_token_name ON public.api_token USING btree (organization_id, lower(name));

create table audit_chain (
  organization_id uuid not null,
  sequence bigint not null default 0,
  hash bytea not null default '\x'::bytea,
  anchor_sequence bigint not null default 0,
  anchor_hash bytea not null default '\x'::bytea,
  constraint audit_chain_pkey PRIMARY KEY (organization_id)
);

create table audit_event (
  id uuid not null,
  organization_id uuid not null,
  "position" bigint not null generated always as identity,
  created_at timestamp with time zone not null,
  event_type text not null,
  target_type text not null,
  target_id uuid,
  target_name text not null,
  sub_target_type text,
  project_id uuid,
  project_name text not null,
  environment_id uuid,
  environment_name text not null,
  origin text not null,
  triggered_by text not null,
  caller text not null,
  user_agent text,
  change text not null,
  original_change text,
  request_id text not null,
  sequence bigint,
  hash bytea,
  constraint audit_event_check CHECK (((sequence IS NULL) = (hash IS NULL))),
  constraint audit_event_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_event_newest ON public.audit_event USING btree (organization_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX audit_event_sequence ON public.audit_event USING btree (organization_id, sequence) WHERE (sequence IS NOT NULL);
CREATE INDEX audit_event_unsealed ON public.audit_event USING btree (organization_id, "position") WHERE (sequence IS NULL);

create table autoscaling_policy (
  id uuid not null,
  service_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  mode text not null,
  polling_interval_seconds integer not null,
  cooldown_period_seconds integer not null,
  scalers jsonb not null,
  constraint autoscaling_policy_mode_check CHECK ((mode = 'KEDA'::text)),
  constraint autoscaling_policy_pkey PRIMARY KEY (id),
  constraint autoscaling_policy_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint autoscaling_policy_service_id_key UNIQUE (service_id)
);

create table backup (
  id uuid not null,
  service_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  name text not null,
  message text not null default ''::text,
  data_version text,
  state text not null default 'QUEUED'::text,
  reason text,
  proof_id uuid,
  proof_state text not null default 'NONE'::text,
  proof_at timestamp with time zone,
  proof_reason text,
  restore_state text not null default 'NONE'::text,
  restore_at timestamp with time zone,
  restore_reason text,
  constraint backup_pkey PRIMARY KEY (id),
  constraint backup_proof_state_check CHECK ((proof_state = ANY (ARRAY['NONE'::text, 'RUNNING'::text, 'PROVEN'::text, 'FAILED'::text]))),
  constraint backup_restore_state_check CHECK ((restore_state = ANY (ARRAY['NONE'::text, 'RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text]))),
  constraint backup_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint backup_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text])))
);
CREATE INDEX backup_proof ON public.backup USING btree (proof_id) WHERE (proof_id IS NOT NULL);
CREATE INDEX backup_service ON public.backup USING btree (service_id, created_at DESC, id DESC);
CREATE INDEX backup_unfinished ON public.backup USING btree (service_id) WHERE (state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text]));

create table backup_file (
  backup_id uuid not null,
  number integer not null,
  mount_point text not null,
  path text not null,
  archive_bytes bigint,
  file_bytes bigint,
  entries integer,
  digest text,
  sealed_key sealed_text,
  constraint backup_file_backup_id_fkey FOREIGN KEY (backup_id) REFERENCES backup(id) ON DELETE CASCADE,
  constraint backup_file_pkey PRIMARY KEY (backup_id, number)
);

create table backup_policy (
  service_id uuid not null,
  cron_at text,
  timezone text not null,
  keep integer not null,
  next_at timestamp with time zone,
  constraint backup_policy_keep_check CHECK (((keep >= 1) AND (keep <= 100))),
  constraint backup_policy_pkey PRIMARY KEY (service_id),
  constraint backup_policy_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX backup_policy_next ON public.backup_policy USING btree (next_at) WHERE (next_at IS NOT NULL);

create table backup_restore (
  id uuid not null,
  backup_id uuid not null,
  phase text not null default 'CHECKING'::text,
  was_running boolean not null default false,
  stop_request uuid,
  failure text,
  constraint backup_restore_backup_id_fkey FOREIGN KEY (backup_id) REFERENCES backup(id) ON DELETE CASCADE,
  constraint backup_restore_phase_check CHECK ((phase = ANY (ARRAY['CHECKING'::text, 'STOPPING'::text, 'WRITING'::text]))),
  constraint backup_restore_pkey PRIMARY KEY (id)
);

create table canary (
  service_id uuid not null,
  request_id uuid not null,
  release_id uuid not null,
  percent integer not null,
  steps jsonb not null,
  step_seconds integer not null,
  max_error_percent integer not null,
  is_promoted boolean not null,
  endpoints jsonb not null,
  step integer not null,
  step_started_at timestamp with time zone not null,
  counts jsonb not null,
  requests_before bigint not null,
  failed_before bigint not null,
  max_latency_ms integer,
  max_slow_percent integer not null default 100,
  slow_before bigint not null default 0,
  constraint canary_pkey PRIMARY KEY (service_id),
  constraint canary_release_id_fkey FOREIGN KEY (release_id) REFERENCES release(id) ON DELETE CASCADE,
  constraint canary_request_id_fkey FOREIGN KEY (request_id) REFERENCES deployment_request(id) ON DELETE CASCADE,
  constraint canary_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX canary_release ON public.canary USING btree (release_id);
CREATE INDEX canary_request ON public.canary USING btree (request_id);

create table chart_diff (
  id uuid not null,
  service_id uuid not null,
  request_id uuid not null,
  release_id uuid not null,
  compared_release_id uuid,
  created_at timestamp with time zone not null,
  diff jsonb not null,
  constraint chart_diff_pkey PRIMARY KEY (id),
  constraint chart_diff_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint chart_diff_service_id_request_id_key UNIQUE (service_id, request_id)
);
CREATE INDEX chart_diff_service ON public.chart_diff USING btree (service_id, created_at DESC);

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
  engine text,
  credentials_id uuid,
  settings jsonb not null default '{}'::jsonb,
  advanced_settings jsonb not null default '{}'::jsonb,
  routes jsonb not null default '[]'::jsonb,
  sealed_kubeconfig sealed_text,
  dns_provider jsonb,
  sealed_dns_secrets sealed_text,
  config_version bigint not null default 1,
  deployed_config_version bigint,
  platform_version text not null default ''::text,
  operation_number integer not null default 0,
  kubeconfig_mark text generated always as (md5((sealed_kubeconfig)::text)) stored,
  traffic_domain text generated always as (
CASE
    WHEN ((kubernetes = 'SELF_MANAGED'::text) AND (sealed_kubeconfig IS NOT NULL)) THEN (dns_provider ->> 'domain'::text)
    ELSE NULL::text
END) stored,
  tls_secret text generated always as (NULLIF((advanced_settings ->> 'tls.secret_name'::text), ''::text)) stored,
  tls_issuer text generated always as (NULLIF((advanced_settings ->> 'tls.cluster_issuer'::text), ''::text)) stored,
  tls_by_controller boolean not null generated always as (COALESCE(((advanced_settings -> 'tls.controller_certificate'::text) = 'true'::jsonb), false)) stored,
  has_own_tls boolean not null default false,
  wildcard_domain text,
  wildcard_asked_at timestamp with time zone,
  constraint cluster_credentials_id_fkey FOREIGN KEY (credentials_id) REFERENCES credentials(id),
  constraint cluster_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint cluster_pkey PRIMARY KEY (id)
);
CREATE INDEX cluster_credentials ON public.cluster USING btree (credentials_id) WHERE (credentials_id IS NOT NULL);
CREATE UNIQUE INDEX cluster_default ON public.cluster USING btree (organization_id) WHERE is_default;
CREATE UNIQUE INDEX cluster_name ON public.cluster USING btree (organization_id, lower(name));

create table cluster_health (
  cluster_id uuid not null,
  state text not null,
  since timestamp with time zone not null,
  reason text,
  kubernetes_version text,
  node_count integer,
  cpu_milli bigint,
  memory_mib bigint,
  constraint cluster_health_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint cluster_health_pkey PRIMARY KEY (cluster_id),
  constraint cluster_health_state_check CHECK ((state = ANY (ARRAY['REACHABLE'::text, 'UNREACHABLE'::text, 'REFUSED'::text])))
);

create table cluster_lock (
  cluster_id uuid not null,
  reason text not null,
  ttl_in_days integer,
  locked_at timestamp with time zone not null,
  owner_name text not null,
  constraint cluster_lock_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint cluster_lock_pkey PRIMARY KEY (cluster_id),
  constraint cluster_lock_ttl_in_days_check CHECK ((ttl_in_days >= 1))
);

create table cluster_log (
  seq bigint not null generated always as identity,
  cluster_id uuid not null,
  operation_id uuid not null,
  at timestamp with time zone not null,
  step text not null,
  message text not null,
  is_error boolean not null default false,
  constraint cluster_log_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint cluster_log_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES cluster_operation(id) ON DELETE CASCADE,
  constraint cluster_log_pkey PRIMARY KEY (seq)
);
CREATE INDEX cluster_log_cluster ON public.cluster_log USING btree (cluster_id, seq);
CREATE INDEX cluster_log_operation ON public.cluster_log USING btree (operation_id);

create table cluster_operation (
  id uuid not null,
  cluster_id uuid not null,
  execution_id text not null,
  kind text not null,
  triggered_by text not null,
  former_status text not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint cluster_operation_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint cluster_operation_execution_id_key UNIQUE (execution_id),
  constraint cluster_operation_id_fkey FOREIGN KEY (id) REFERENCES workflow(id) ON DELETE CASCADE,
  constraint cluster_operation_kind_check CHECK ((kind = ANY (ARRAY['DEPLOY'::text, 'UPGRADE'::text, 'DRY_RUN'::text, 'STOP'::text, 'DELETE'::text]))),
  constraint cluster_operation_pkey PRIMARY KEY (id)
);
CREATE INDEX cluster_operation_cluster ON public.cluster_operation USING btree (cluster_id);
CREATE UNIQUE INDEX cluster_operation_one ON public.cluster_operation USING btree (cluster_id) WHERE (finished_at IS NULL);

create table cluster_tag_group (
  cluster_id uuid not null,
  group_id uuid not null,
  constraint cluster_tag_group_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint cluster_tag_group_group_id_fkey FOREIGN KEY (group_id) REFERENCES tag_group(id),
  constraint cluster_tag_group_pkey PRIMARY KEY (cluster_id, group_id)
);
CREATE INDEX cluster_tag_group_group ON public.cluster_tag_group USING btree (group_id);

create table container_registry (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  kind text not null,
  url text not null,
  config jsonb not null default '{}'::jsonb,
  sealed_config sealed_text,
  constraint container_registry_kind_check CHECK ((kind = ANY (ARRAY['ECR'::text, 'SCALEWAY_CR'::text, 'DOCKER_HUB'::text, 'GITHUB_CR'::text, 'GITHUB_ENTERPRISE_CR'::text, 'GITLAB_CR'::text, 'PUBLIC_ECR'::text, 'DOCR'::text, 'GENERIC_CR'::text, 'GCP_ARTIFACT_REGISTRY'::text, 'AZURE_CR'::text]))),
  constraint container_registry_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint container_registry_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX container_registry_name ON public.container_registry USING btree (organization_id, lower(name));

create table copy_record (
  id uuid not null,
  organization_id uuid not null,
  project_id uuid not null,
  mode text not null,
  environment_id uuid not null,
  service_id uuid,
  source_id uuid not null,
  name text not null,
  with_data boolean not null,
  status text not null default 'ONGOING'::text,
  copied_bytes bigint not null default 0,
  reason text,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint copy_record_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint copy_record_pkey PRIMARY KEY (id),
  constraint copy_record_status_check CHECK ((status = ANY (ARRAY['ONGOING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text])))
);
CREATE INDEX copy_record_newest ON public.copy_record USING btree (organization_id, created_at DESC);

create table credentials (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  cloud_provider text not null,
  object_type text not null,
  variant text not null,
  name text not null,
  settings jsonb not null default '{}'::jsonb,
  sealed_secrets sealed_text,
  constraint credentials_cloud_provider_check CHECK ((cloud_provider = ANY (ARRAY['AWS'::text, 'SCW'::text, 'GCP'::text, 'AZURE'::text, 'ON_PREMISE'::text]))),
  constraint credentials_object_type_check CHECK ((object_type = ANY (ARRAY['AWS'::text, 'AWS_ROLE'::text, 'EKS_ANYWHERE_VSPHERE'::text, 'SCW'::text, 'GCP'::text, 'GCP_WORKLOAD_IDENTITY_FEDERATION'::text, 'AZURE'::text, 'OTHER'::text]))),
  constraint credentials_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint credentials_pkey PRIMARY KEY (id)
);
CREATE INDEX credentials_organization ON public.credentials USING btree (organization_id, created_at);

create table custom_domain (
  id uuid not null,
  service_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  domain text not null,
  generate_certificate boolean not null,
  use_cdn boolean not null,
  organization_id uuid not null,
  base text not null generated always as (ltrim(domain, '*.'::text)) stored,
  proof text,
  proven_at timestamp with time zone,
  lost_since timestamp with time zone,
  pending_since timestamp with time zone not null,
  asked_at timestamp with time zone,
  next_ask_at timestamp with time zone,
  asks integer not null default 0,
  finding text,
  constraint custom_domain_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint custom_domain_pkey PRIMARY KEY (id),
  constraint custom_domain_proof_check CHECK ((proof = ANY (ARRAY['CNAME'::text, 'TXT'::text, 'WAIVED'::text, 'NO_PUBLIC_DNS'::text, 'BEFORE_REQUIRED'::text]))),
  constraint custom_domain_proof_has_time CHECK (((proof IS NULL) = (proven_at IS NULL))),
  constraint custom_domain_service_domain_key UNIQUE (service_id, domain),
  constraint custom_domain_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX custom_domain_base ON public.custom_domain USING btree (base) WHERE (proof IS NOT NULL);
CREATE INDEX custom_domain_below ON public.custom_domain USING btree (reverse(base) text_pattern_ops) WHERE (proof IS NOT NULL);
CREATE INDEX custom_domain_domain ON public.custom_domain USING btree (domain);
CREATE INDEX custom_domain_due ON public.custom_domain USING btree (next_ask_at) WHERE (next_ask_at IS NOT NULL);
CREATE INDEX custom_domain_organization ON public.custom_domain USING btree (organization_id);
CREATE INDEX custom_domain_service ON public.custom_domain USING btree (service_id);

create table custom_role (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  constraint custom_role_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint custom_role_organization_id_id_key UNIQUE (organization_id, id),
  constraint custom_role_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX custom_role_name ON public.custom_role USING btree (organization_id, lower(name));

create table custom_role_cluster (
  role_id uuid not null,
  cluster_id uuid not null,
  permission text not null,
  constraint custom_role_cluster_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint custom_role_cluster_permission_check CHECK ((permission = ANY (ARRAY['VIEWER'::text, 'ENV_CREATOR'::text, 'ADMIN'::text]))),
  constraint custom_role_cluster_pkey PRIMARY KEY (role_id, cluster_id),
  constraint custom_role_cluster_role_id_fkey FOREIGN KEY (role_id) REFERENCES custom_role(id) ON DELETE CASCADE
);
CREATE INDEX custom_role_cluster_cluster ON public.custom_role_cluster USING btree (cluster_id);

create table custom_role_project (
  role_id uuid not null,
  project_id uuid not null,
  is_admin boolean not null default false,
  development text not null default 'NO_ACCESS'::text,
  preview text not null default 'NO_ACCESS'::text,
  staging text not null default 'NO_ACCESS'::text,
  production text not null default 'NO_ACCESS'::text,
  constraint custom_role_project_development_check CHECK ((development = ANY (ARRAY['NO_ACCESS'::text, 'VIEWER'::text, 'DEPLOYER'::text, 'MANAGER'::text]))),
  constraint custom_role_project_pkey PRIMARY KEY (role_id, project_id),
  constraint custom_role_project_preview_check CHECK ((preview = ANY (ARRAY['NO_ACCESS'::text, 'VIEWER'::text, 'DEPLOYER'::text, 'MANAGER'::text]))),
  constraint custom_role_project_production_check CHECK ((production = ANY (ARRAY['NO_ACCESS'::text, 'VIEWER'::text, 'DEPLOYER'::text, 'MANAGER'::text]))),
  constraint custom_role_project_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint custom_role_project_role_id_fkey FOREIGN KEY (role_id) REFERENCES custom_role(id) ON DELETE CASCADE,
  constraint custom_role_project_staging_check CHECK ((staging = ANY (ARRAY['NO_ACCESS'::text, 'VIEWER'::text, 'DEPLOYER'::text, 'MANAGER'::text])))
);
CREATE INDEX custom_role_project_project ON public.custom_role_project USING btree (project_id);

create table data_key (
  organization_id uuid not null,
  number integer not null,
  wrapped_key text not null,
  created_at timestamp with time zone not null default now(),
  constraint data_key_number_check CHECK ((number > 0)),
  constraint data_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint data_key_pkey PRIMARY KEY (organization_id, number)
);

create table deployment_request (
  id uuid not null,
  seq bigint not null generated always as identity,
  environment_id uuid not null,
  execution_id text not null,
  action deployment_action not null,
  status request_status not null default 'QUEUED'::text,
  origin text not null,
  triggered_by text not null,
  caller text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint deployment_request_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint deployment_request_execution_id_key UNIQUE (execution_id),
  constraint deployment_request_id_fkey FOREIGN KEY (id) REFERENCES workflow(id) ON DELETE CASCADE,
  constraint deployment_request_pkey PRIMARY KEY (id)
);
CREATE INDEX deployment_request_active ON public.deployment_request USING btree (environment_id, seq) WHERE ((status)::text = ANY (ARRAY['QUEUED'::text, 'ONGOING'::text, 'CANCELING'::text]));
CREATE INDEX deployment_request_environment ON public.deployment_request USING btree (environment_id, seq DESC);
CREATE UNIQUE INDEX deployment_request_one_running ON public.deployment_request USING btree (environment_id) WHERE ((status)::text = ANY (ARRAY['ONGOING'::text, 'CANCELING'::text]));

create table deployment_restriction (
  id uuid not null,
  service_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  mode text not null,
  type text not null,
  value text not null,
  constraint deployment_restriction_mode_check CHECK ((mode = ANY (ARRAY['EXCLUDE'::text, 'MATCH'::text]))),
  constraint deployment_restriction_pkey PRIMARY KEY (id),
  constraint deployment_restriction_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint deployment_restriction_type_check CHECK ((type = 'PATH'::text))
);
CREATE UNIQUE INDEX deployment_restriction_value ON public.deployment_restriction USING btree (service_id, mode, type, value);

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
  status target_status not null default 'QUEUED'::text,
  wanted_commit text,
  former_state text not null,
  release_id uuid,
  commit jsonb,
  reason text,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  force_event job_event,
  wanted_release uuid,
  same_version boolean not null default false,
  stage_id uuid,
  stack_action text,
  wanted_values text,
  constraint deployment_target_pkey PRIMARY KEY (request_id, service_id),
  constraint deployment_target_request_id_fkey FOREIGN KEY (request_id) REFERENCES deployment_request(id) ON DELETE CASCADE,
  constraint deployment_target_stack_action_check CHECK ((stack_action = ANY (ARRAY['PLAN'::text, 'FORCE_UNLOCK'::text, 'MIGRATE_STATE'::text, 'SKIP_DESTROY'::text, 'RESOURCES_ONLY'::text, 'APPLY_PLAN'::text, 'KEEP_VOLUMES'::text])))
);
CREATE INDEX deployment_target_service ON public.deployment_target USING btree (service_id, service_seq DESC);

create table disk_usage (
  measured_at timestamp with time zone not null,
  usage jsonb not null,
  engine text not null,
  constraint disk_usage_pkey PRIMARY KEY (engine)
);

create table duty (
  name text not null,
  owner text not null,
  fence bigint not null,
  until timestamp with time zone not null,
  constraint duty_pkey PRIMARY KEY (name)
);

create table environment (
  id uuid not null,
  project_id uuid not null,
  cluster_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  last_updated_by uuid,
  name text not null,
  mode environment_mode not null,
  deleting boolean not null default false,
  request_number integer not null default 0,
  copying uuid,
  constraint environment_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id),
  constraint environment_pkey PRIMARY KEY (id),
  constraint environment_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);
CREATE INDEX environment_cluster ON public.environment USING btree (cluster_id);
CREATE UNIQUE INDEX environment_name ON public.environment USING btree (project_id, lower(name));

create table environment_deployment_rule (
  id uuid not null,
  environment_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  on_demand_preview boolean not null default false,
  auto_preview boolean not null default false,
  auto_stop boolean not null default false,
  timezone text not null default 'UTC'::text,
  start_time time without time zone not null default '08:00:00'::time without time zone,
  stop_time time without time zone not null default '19:00:00'::time without time zone,
  weekdays text[] not null default ARRAY['MONDAY'::text, 'TUESDAY'::text, 'WEDNESDAY'::text, 'THURSDAY'::text, 'FRIDAY'::text, 'SATURDAY'::text, 'SUNDAY'::text],
  constraint environment_deployment_rule_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint environment_deployment_rule_environment_id_key UNIQUE (environment_id),
  constraint environment_deployment_rule_pkey PRIMARY KEY (id),
  constraint environment_deployment_rule_weekdays_check CHECK ((weekdays <@ ARRAY['MONDAY'::text, 'TUESDAY'::text, 'WEDNESDAY'::text, 'THURSDAY'::text, 'FRIDAY'::text, 'SATURDAY'::text, 'SUNDAY'::text]))
);

create table environment_schedule (
  environment_id uuid not null,
  rule_version integer not null,
  edge timestamp with time zone not null,
  is_within boolean not null,
  next_edge timestamp with time zone,
  stopped uuid[] not null default '{}'::uuid[],
  constraint environment_schedule_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint environment_schedule_pkey PRIMARY KEY (environment_id)
);

create table erased_backup_file (
  path text not null,
  constraint erased_backup_file_pkey PRIMARY KEY (path)
);

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

create table fetched_image (
  reference text not null,
  fetched_at timestamp with time zone not null,
  used_at timestamp with time zone not null,
  engine text not null,
  constraint fetched_image_pkey PRIMARY KEY (engine, reference)
);

create table full_volume (
  service_id uuid not null,
  found_at timestamp with time zone not null,
  stopped_at timestamp with time zone,
  reason text not null,
  constraint full_volume_pkey PRIMARY KEY (service_id),
  constraint full_volume_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);

create table git_push (
  id uuid not null,
  seq bigint not null generated always as identity,
  organization_id uuid not null,
  source text not null,
  repositories text[] not null,
  branch text not null,
  before text,
  commit text not null,
  pusher text not null,
  paths text[],
  received_at timestamp with time zone not null,
  handled_at timestamp with time zone,
  constraint git_push_id_fkey FOREIGN KEY (id) REFERENCES workflow(id) ON DELETE CASCADE,
  constraint git_push_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint git_push_pkey PRIMARY KEY (id),
  constraint git_push_source_check CHECK ((source = ANY (ARRAY['BITBUCKET'::text, 'BUILT_IN'::text, 'GITHUB'::text, 'GITLAB'::text])))
);
CREATE INDEX git_push_organization ON public.git_push USING btree (organization_id, seq DESC);
CREATE INDEX git_push_received ON public.git_push USING btree (received_at);

create table git_push_service (
  push_id uuid not null,
  service_id uuid not null,
  service_name text not null,
  kind text not null,
  environment_id uuid not null,
  environment_name text not null,
  environment_mode text not null,
  project_id uuid not null,
  result text not null,
  reason text,
  request_id uuid,
  constraint git_push_service_pkey PRIMARY KEY (push_id, service_id),
  constraint git_push_service_push_id_fkey FOREIGN KEY (push_id) REFERENCES git_push(id) ON DELETE CASCADE,
  constraint git_push_service_result_check CHECK ((result = ANY (ARRAY['DEPLOYED'::text, 'LEFT_OUT'::text, 'REFUSED'::text])))
);

create table git_receive (
  id uuid not null,
  organization_id uuid not null,
  repository text not null,
  pusher text not null,
  started_at timestamp with time zone not null,
  constraint git_receive_organization_id_repository_fkey FOREIGN KEY (organization_id, repository) REFERENCES hosted_repository(organization_id, name) ON DELETE CASCADE,
  constraint git_receive_pkey PRIMARY KEY (id)
);
CREATE INDEX git_receive_repository ON public.git_receive USING btree (organization_id, repository);

create table git_token (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  type text not null,
  sealed_token sealed_text not null,
  workspace text,
  git_api_url text not null,
  expired_at date,
  credential_version integer not null default 1,
  constraint git_token_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint git_token_pkey PRIMARY KEY (id),
  constraint git_token_type_check CHECK ((type = ANY (ARRAY['BITBUCKET'::text, 'GITHUB'::text, 'GITLAB'::text])))
);
CREATE UNIQUE INDEX git_token_name ON public.git_token USING btree (organization_id, lower(name));

create table git_webhook (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  provider text not null,
  description text not null default ''::text,
  sealed_secret sealed_text not null,
  constraint git_webhook_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint git_webhook_pkey PRIMARY KEY (id),
  constraint git_webhook_provider_check CHECK ((provider = ANY (ARRAY['BITBUCKET'::text, 'GITHUB'::text, 'GITLAB'::text])))
);
CREATE INDEX git_webhook_organization ON public.git_webhook USING btree (organization_id, created_at);

create table git_webhook_delivery (
  git_webhook_id uuid not null,
  delivery_id text not null,
  digest bytea,
  received_at timestamp with time zone not null,
  event text not null,
  status text not null,
  reason text,
  constraint git_webhook_delivery_git_webhook_id_fkey FOREIGN KEY (git_webhook_id) REFERENCES git_webhook(id) ON DELETE CASCADE,
  constraint git_webhook_delivery_pkey PRIMARY KEY (git_webhook_id, delivery_id),
  constraint git_webhook_delivery_status_check CHECK ((status = ANY (ARRAY['ACCEPTED'::text, 'IGNORED'::text])))
);
CREATE UNIQUE INDEX git_webhook_delivery_digest ON public.git_webhook_delivery USING btree (git_webhook_id, digest);
CREATE INDEX git_webhook_delivery_newest ON public.git_webhook_delivery USING btree (git_webhook_id, received_at DESC);
CREATE INDEX git_webhook_delivery_received ON public.git_webhook_delivery USING btree (received_at);

create table helm_repository (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  kind text not null,
  url text not null,
  skip_tls_verification boolean not null default false,
  config jsonb not null default '{}'::jsonb,
  sealed_config sealed_text,
  constraint helm_repository_kind_check CHECK ((kind = ANY (ARRAY['HTTPS'::text, 'OCI_ECR'::text, 'OCI_SCALEWAY_CR'::text, 'OCI_DOCKER_HUB'::text, 'OCI_PUBLIC_ECR'::text, 'OCI_GENERIC_CR'::text, 'OCI_GITHUB_CR'::text, 'OCI_GITLAB_CR'::text]))),
  constraint helm_repository_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint helm_repository_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX helm_repository_name ON public.helm_repository USING btree (organization_id, lower(name));

create table host_certificate (
  host text not null,
  chain text,
  sealed_key text,
  not_before timestamp with time zone,
  not_after timestamp with time zone,
  failures integer not null default 0,
  tried_at timestamp with time zone,
  finding text,
  due_at timestamp with time zone not null,
  challenge_token text,
  challenge_answer text,
  updated_at timestamp with time zone not null,
  challenge_kind text,
  window_ask_at timestamp with time zone,
  constraint host_certificate_challenge_kind_check CHECK ((challenge_kind = ANY (ARRAY['http-01'::text, 'tls-alpn-01'::text, 'dns-01'::text]))),
  constraint host_certificate_check CHECK ((num_nulls(chain, sealed_key, not_before, not_after) = ANY (ARRAY[0, 4]))),
  constraint host_certificate_check1 CHECK ((num_nulls(challenge_token, challenge_answer) = ANY (ARRAY[0, 2]))),
  constraint host_certificate_pkey PRIMARY KEY (host)
);

create table hosted_branch (
  organization_id uuid not null,
  repository text not null,
  name text not null,
  commit text not null,
  constraint hosted_branch_organization_id_repository_fkey FOREIGN KEY (organization_id, repository) REFERENCES hosted_repository(organization_id, name) ON DELETE CASCADE,
  constraint hosted_branch_pkey PRIMARY KEY (organization_id, repository, name)
);

create table hosted_repository (
  organization_id uuid not null,
  name text not null,
  version bigint not null default 0,
  constraint hosted_repository_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint hosted_repository_pkey PRIMARY KEY (organization_id, name)
);

create table image_owner (
  digest text not null,
  organization_id uuid not null,
  constraint image_owner_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint image_owner_pkey PRIMARY KEY (digest, organization_id)
);

create table invitation (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  email text not null,
  role text,
  custom_role_id uuid,
  inviter text not null,
  expires_at timestamp with time zone not null,
  inviter_account_id uuid,
  constraint invitation_check CHECK ((num_nonnulls(role, custom_role_id) = 1)),
  constraint invitation_organization_id_custom_role_id_fkey FOREIGN KEY (organization_id, custom_role_id) REFERENCES custom_role(organization_id, id),
  constraint invitation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint invitation_organization_id_inviter_account_id_fkey FOREIGN KEY (organization_id, inviter_account_id) REFERENCES member(organization_id, account_id) ON DELETE CASCADE,
  constraint invitation_pkey PRIMARY KEY (id),
  constraint invitation_role_check CHECK ((role = ANY (ARRAY['ADMIN'::text, 'DEVOPS'::text, 'BILLING_MANAGER'::text, 'VIEWER'::text])))
);
CREATE INDEX invitation_custom_role ON public.invitation USING btree (custom_role_id) WHERE (custom_role_id IS NOT NULL);
CREATE UNIQUE INDEX invitation_email ON public.invitation USING btree (organization_id, lower(email));
CREATE INDEX invitation_inviter ON public.invitation USING btree (organization_id, inviter_account_id) WHERE (inviter_account_id IS NOT NULL);

create table issuer_client (
  id text not null,
  created_at timestamp with time zone not null,
  name text not null,
  redirect_uris text[] not null,
  grant_types text[] not null,
  constraint issuer_client_pkey PRIMARY KEY (id)
);

create table issuer_key (
  id uuid not null,
  created_at timestamp with time zone not null,
  public_key jsonb not null,
  sealed_private_key text not null,
  constraint issuer_key_pkey PRIMARY KEY (id)
);

create table issuer_record (
  model text not null,
  id_hash text not null,
  sealed_payload text not null,
  grant_id text,
  uid text,
  user_code_hash text,
  account_id uuid,
  consumed_at timestamp with time zone,
  expires_at timestamp with time zone,
  agent text,
  constraint issuer_record_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint issuer_record_pkey PRIMARY KEY (model, id_hash)
);
CREATE INDEX issuer_record_account ON public.issuer_record USING btree (account_id) WHERE (account_id IS NOT NULL);
CREATE INDEX issuer_record_expiry ON public.issuer_record USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX issuer_record_grant ON public.issuer_record USING btree (grant_id) WHERE (grant_id IS NOT NULL);
CREATE INDEX issuer_record_uid ON public.issuer_record USING btree (model, uid) WHERE (uid IS NOT NULL);
CREATE INDEX issuer_record_user_code ON public.issuer_record USING btree (model, user_code_hash) WHERE (user_code_hash IS NOT NULL);

create table job_run (
  id uuid not null,
  service_id uuid not null,
  release_id uuid not null,
  request_id uuid,
  trigger text not null,
  event text not null,
  status text not null default 'QUEUED'::text,
  scheduled_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  tries integer not null default 0,
  exit_code integer,
  reason text,
  constraint job_run_event_check CHECK ((event = ANY (ARRAY['START'::text, 'STOP'::text, 'DELETE'::text, 'CRON'::text]))),
  constraint job_run_pkey PRIMARY KEY (id),
  constraint job_run_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint job_run_service_id_scheduled_at_key UNIQUE (service_id, scheduled_at),
  constraint job_run_status_check CHECK ((status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text, 'SKIPPED'::text]))),
  constraint job_run_trigger_check CHECK ((trigger = ANY (ARRAY['CRON'::text, 'FORCED'::text, 'DEPLOYMENT'::text])))
);
CREATE INDEX job_run_active ON public.job_run USING btree (service_id) WHERE (status = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text]));
CREATE INDEX job_run_service ON public.job_run USING btree (service_id, created_at DESC);

create table job_schedule (
  service_id uuid not null,
  release_id uuid not null,
  scheduled_at text not null,
  timezone text not null,
  next_at timestamp with time zone,
  constraint job_schedule_pkey PRIMARY KEY (service_id),
  constraint job_schedule_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX job_schedule_next ON public.job_schedule USING btree (next_at) WHERE (next_at IS NOT NULL);

create table kept_reply (
  caller text not null,
  key text not null,
  organization_id uuid,
  request_hash bytea not null,
  created_at timestamp with time zone not null,
  status integer,
  body sealed_text,
  constraint kept_reply_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint kept_reply_pkey PRIMARY KEY (caller, key)
);
CREATE INDEX kept_reply_oldest ON public.kept_reply USING btree (created_at);
CREATE INDEX kept_reply_organization ON public.kept_reply USING btree (organization_id);

create table key_rotation (
  organization_id uuid not null,
  id uuid not null,
  former_keys text[] not null default '{}'::text[],
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  failure text,
  constraint key_rotation_id_key UNIQUE (id),
  constraint key_rotation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint key_rotation_pkey PRIMARY KEY (organization_id)
);

create table member (
  organization_id uuid not null,
  account_id uuid not null,
  created_at timestamp with time zone not null,
  permissions text[] not null default '{}'::text[],
  role text,
  custom_role_id uuid,
  custom_rights jsonb,
  listed text,
  updated_at timestamp with time zone not null default now(),
  constraint member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint member_custom_rights CHECK (((custom_role_id IS NULL) = (custom_rights IS NULL))),
  constraint member_one_role CHECK ((num_nonnulls(NULLIF(permissions, '{}'::text[]), role, custom_role_id) = 1)),
  constraint member_organization_id_custom_role_id_fkey FOREIGN KEY (organization_id, custom_role_id) REFERENCES custom_role(organization_id, id),
  constraint member_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint member_permissions_check CHECK ((permissions <@ ARRAY['READ'::text, 'DEPLOY'::text, 'WRITE'::text, 'ADMIN'::text])),
  constraint member_pkey PRIMARY KEY (organization_id, account_id),
  constraint member_role_check CHECK ((role = ANY (ARRAY['OWNER'::text, 'ADMIN'::text, 'DEVOPS'::text, 'BILLING_MANAGER'::text, 'VIEWER'::text])))
);
CREATE INDEX member_account ON public.member USING btree (account_id);
CREATE INDEX member_custom_role ON public.member USING btree (custom_role_id) WHERE (custom_role_id IS NOT NULL);
CREATE UNIQUE INDEX member_owner ON public.member USING btree (organization_id) WHERE (role = 'OWNER'::text);

create table observation (
  service_id uuid not null,
  state text not null,
  release_id uuid,
  replicas jsonb not null default '[]'::jsonb,
  reason text,
  observed_at timestamp with time zone not null,
  constraint observation_pkey PRIMARY KEY (service_id),
  constraint observation_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint observation_state_check CHECK ((state = ANY (ARRAY['absent'::text, 'running'::text, 'warning'::text, 'starting'::text, 'failing'::text, 'stopped'::text])))
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
  constraint organization_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX organization_name ON public.organization USING btree (lower(name));

create table organization_disk (
  organization_id uuid not null,
  measured_at timestamp with time zone not null,
  images_bytes bigint not null,
  repositories_bytes bigint not null,
  logs_bytes bigint not null,
  scratch_bytes bigint not null,
  is_over boolean not null,
  engine text not null,
  constraint organization_disk_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint organization_disk_pkey PRIMARY KEY (organization_id, engine)
);

create table outside_failure (
  issuer text not null,
  failures double precision not null,
  counted_at timestamp with time zone not null,
  constraint outside_failure_pkey PRIMARY KEY (issuer)
);

create table outside_state (
  state_hash text not null,
  expires_at timestamp with time zone not null,
  constraint outside_state_pkey PRIMARY KEY (state_hash)
);
CREATE INDEX outside_state_expires_at ON public.outside_state USING btree (expires_at);

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

create table project_deployment_rule (
  id uuid not null,
  project_id uuid not null,
  cluster_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  version integer not null default 1,
  name text not null,
  description text not null default ''::text,
  mode text not null,
  auto_stop boolean not null,
  timezone text not null,
  start_time time without time zone not null,
  stop_time time without time zone not null,
  weekdays text[] not null,
  wildcard text not null,
  priority_index integer not null,
  constraint project_deployment_rule_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES cluster(id) ON DELETE CASCADE,
  constraint project_deployment_rule_mode_check CHECK ((mode = ANY (ARRAY['DEVELOPMENT'::text, 'PREVIEW'::text, 'PRODUCTION'::text, 'STAGING'::text]))),
  constraint project_deployment_rule_pkey PRIMARY KEY (id),
  constraint project_deployment_rule_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint project_deployment_rule_project_id_priority_index_key UNIQUE (project_id, priority_index) DEFERRABLE INITIALLY DEFERRED,
  constraint project_deployment_rule_weekdays_check CHECK ((weekdays <@ ARRAY['MONDAY'::text, 'TUESDAY'::text, 'WEDNESDAY'::text, 'THURSDAY'::text, 'FRIDAY'::text, 'SATURDAY'::text, 'SUNDAY'::text]))
);
CREATE INDEX project_deployment_rule_cluster ON public.project_deployment_rule USING btree (cluster_id);
CREATE UNIQUE INDEX project_deployment_rule_name ON public.project_deployment_rule USING btree (project_id, lower(name));

create table public_port (
  service_id uuid not null,
  host text not null,
  port integer not null,
  constraint public_port_pkey PRIMARY KEY (service_id),
  constraint public_port_port_key UNIQUE (port),
  constraint public_port_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);

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
  sealed_variables sealed_text,
  advanced_settings jsonb not null default '{}'::jsonb,
  labels jsonb not null default '{}'::jsonb,
  public_port integer,
  copy_of uuid,
  served_at timestamp with time zone,
  is_kept boolean not null default true,
  basic_auth jsonb,
  min_running_instances integer generated always as (number_of((settings -> 'min_running_instances'::text))) stored,
  max_running_instances integer generated always as (number_of((settings -> 'max_running_instances'::text))) stored,
  repository_url text generated always as (COALESCE((settings #>> '{git_repository,url}'::text[]), (settings #>> '{source,docker,git_repository,url}'::text[]))) stored,
  event_scaling jsonb,
  annotations jsonb not null default '{}'::jsonb,
  constraint release_pkey PRIMARY KEY (id),
  constraint release_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint release_service_id_request_id_key UNIQUE (service_id, request_id)
);
CREATE INDEX release_kept ON public.release USING btree (service_id, created_at DESC) WHERE is_kept;
CREATE INDEX release_service ON public.release USING btree (service_id, created_at DESC);

create table repository_access (
  organization_id uuid not null,
  address text not null,
  git_token_id uuid,
  credential_version integer,
  has_access boolean not null,
  checked_at timestamp with time zone not null,
  constraint repository_access_git_token_id_fkey FOREIGN KEY (git_token_id) REFERENCES git_token(id) ON DELETE CASCADE,
  constraint repository_access_key UNIQUE NULLS NOT DISTINCT (organization_id, address, git_token_id),
  constraint repository_access_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE
);
CREATE INDEX repository_access_git_token ON public.repository_access USING btree (git_token_id) WHERE (git_token_id IS NOT NULL);

create table route (
  host text not null,
  service_id uuid not null,
  port_name text not null,
  internal_port integer not null,
  is_default boolean not null,
  release_id uuid,
  endpoints jsonb not null default '[]'::jsonb,
  updated_at timestamp with time zone not null,
  custom_domain_id uuid,
  public_port integer,
  public_protocol text,
  path text not null default '/'::text,
  rewrite text,
  outside jsonb,
  certificate jsonb,
  pods jsonb,
  speaks_http2 boolean not null default false,
  constraint route_custom_domain_id_fkey FOREIGN KEY (custom_domain_id) REFERENCES custom_domain(id) ON DELETE CASCADE,
  constraint route_pkey PRIMARY KEY (host, path),
  constraint route_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX route_custom_domain ON public.route USING btree (custom_domain_id) WHERE (custom_domain_id IS NOT NULL);
CREATE UNIQUE INDEX route_public_port ON public.route USING btree (public_port) WHERE (public_port IS NOT NULL);
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
  kind service_kind not null,
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
  advanced_settings jsonb not null default '{}'::jsonb,
  container_registry_id uuid generated always as (registry_of(settings)) stored,
  helm_repository_id uuid generated always as (helm_repository_of(settings)) stored,
  data_version text,
  copying uuid,
  restoring uuid,
  accessibility text generated always as ((settings ->> 'accessibility'::text)) stored,
  auto_deploy boolean generated always as (auto_deploy_of(settings)) stored,
  database_type text generated always as ((settings ->> 'type'::text)) stored,
  image_name text generated always as (image_name_of(settings)) stored,
  job_type text generated always as (job_type_of(settings)) stored,
  layer_limit_gib double precision generated always as (NULLIF(number_of((settings -> 'ephemeral_storage_in_gib'::text)), (0)::double precision)) stored,
  repository_urls text[] generated always as (repository_urls_of(settings)) stored,
  run_ttl_seconds double precision generated always as (number_of((advanced_settings -> 'job.delete_ttl_seconds_after_finished'::text))) stored,
  source_branch text generated always as (branch_of(settings)) stored,
  source_version text generated always as (version_of(settings)) stored,
  drifted_at timestamp with time zone,
  sign_in text generated always as (NULLIF((advanced_settings ->> 'network.router.sign_in'::text), ''::text)) stored,
  constraint service_container_registry_id_fkey FOREIGN KEY (container_registry_id) REFERENCES container_registry(id),
  constraint service_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environment(id) ON DELETE CASCADE,
  constraint service_git_token_id_fkey FOREIGN KEY (git_token_id) REFERENCES git_token(id),
  constraint service_helm_repository_id_fkey FOREIGN KEY (helm_repository_id) REFERENCES helm_repository(id),
  constraint service_pkey PRIMARY KEY (id),
  constraint service_stage_id_fkey FOREIGN KEY (stage_id) REFERENCES deployment_stage(id)
);
CREATE INDEX service_container_registry ON public.service USING btree (container_registry_id) WHERE (container_registry_id IS NOT NULL);
CREATE INDEX service_copying ON public.service USING btree (copying) WHERE (copying IS NOT NULL);
CREATE INDEX service_git_token ON public.service USING btree (git_token_id) WHERE (git_token_id IS NOT NULL);
CREATE INDEX service_helm_repository ON public.service USING btree (helm_repository_id) WHERE (helm_repository_id IS NOT NULL);
CREATE UNIQUE INDEX service_name ON public.service USING btree (environment_id, lower(name));
CREATE INDEX service_running ON public.service USING btree (id) WHERE (release_id IS NOT NULL);
CREATE INDEX service_sign_in ON public.service USING btree (environment_id) WHERE (sign_in IS NOT NULL);
CREATE INDEX service_stage ON public.service USING btree (stage_id);

create table service_disk (
  service_id uuid not null,
  part text not null,
  bytes bigint not null,
  kept_bytes bigint not null,
  constraint service_disk_pkey PRIMARY KEY (service_id, part),
  constraint service_disk_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);

create table service_output (
  id uuid not null,
  service_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  key text not null,
  description text not null default ''::text,
  is_secret boolean not null,
  value text,
  sealed_value sealed_text,
  constraint service_output_check CHECK ((is_secret = (value IS NULL))),
  constraint service_output_check1 CHECK ((num_nonnulls(value, sealed_value) = 1)),
  constraint service_output_pkey PRIMARY KEY (id),
  constraint service_output_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint service_output_service_id_key_key UNIQUE (service_id, key)
);

create table service_scale (
  service_id uuid not null,
  replicas integer not null,
  waking boolean not null default false,
  changed_at timestamp with time zone not null,
  leaving text[] not null default '{}'::text[],
  constraint service_scale_pkey PRIMARY KEY (service_id),
  constraint service_scale_replicas_check CHECK ((replicas >= 0)),
  constraint service_scale_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);

create table service_secret (
  service_id uuid not null,
  name text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  sealed_value sealed_text not null,
  constraint service_secret_pkey PRIMARY KEY (service_id, name),
  constraint service_secret_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);

create table service_tag_group (
  service_id uuid not null,
  group_id uuid not null,
  constraint service_tag_group_group_id_fkey FOREIGN KEY (group_id) REFERENCES tag_group(id),
  constraint service_tag_group_pkey PRIMARY KEY (service_id, group_id),
  constraint service_tag_group_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX service_tag_group_group ON public.service_tag_group USING btree (group_id);

create table setting (
  key text not null,
  value jsonb not null,
  constraint setting_pkey PRIMARY KEY (key)
);

create table sign_in_attempt (
  subject text not null,
  failures integer not null,
  blocked_until timestamp with time zone,
  last_failed_at timestamp with time zone not null,
  constraint sign_in_attempt_pkey PRIMARY KEY (subject)
);

create table stack_drift_policy (
  service_id uuid not null,
  cron_at text,
  timezone text not null,
  next_at timestamp with time zone,
  constraint stack_drift_policy_pkey PRIMARY KEY (service_id),
  constraint stack_drift_policy_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX stack_drift_policy_next ON public.stack_drift_policy USING btree (next_at) WHERE (next_at IS NOT NULL);

create table stack_resource (
  id uuid not null,
  service_id uuid not null,
  address text not null,
  resource_type text not null,
  name text not null,
  provider text not null,
  mode text not null,
  attributes jsonb not null,
  extracted_at timestamp with time zone not null,
  constraint stack_resource_mode_check CHECK ((mode = ANY (ARRAY['managed'::text, 'data'::text]))),
  constraint stack_resource_pkey PRIMARY KEY (id),
  constraint stack_resource_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX stack_resource_service ON public.stack_resource USING btree (service_id);

create table stack_run (
  id uuid not null,
  service_id uuid not null,
  release_id uuid,
  request_id uuid,
  action text not null,
  status text not null default 'RUNNING'::text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  reason text,
  plan jsonb,
  sealed_plan sealed_text,
  is_applying boolean not null default false,
  backend text,
  constraint stack_run_action_check CHECK ((action = ANY (ARRAY['PLAN'::text, 'APPLY'::text, 'DESTROY'::text, 'DRIFT'::text, 'RESTORE_STATE'::text, 'MIGRATE_STATE'::text]))),
  constraint stack_run_backend_check CHECK ((backend = ANY (ARRAY['kubernetes'::text, 'user_provided'::text]))),
  constraint stack_run_pkey PRIMARY KEY (id),
  constraint stack_run_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint stack_run_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text, 'LOST'::text])))
);
CREATE UNIQUE INDEX stack_run_lock ON public.stack_run USING btree (service_id) WHERE (status = ANY (ARRAY['RUNNING'::text, 'LOST'::text]));
CREATE INDEX stack_run_request ON public.stack_run USING btree (request_id);
CREATE INDEX stack_run_service ON public.stack_run USING btree (service_id, created_at DESC);

create table stack_state (
  id uuid not null,
  service_id uuid not null,
  number integer not null,
  run_id uuid not null,
  created_at timestamp with time zone not null,
  serial bigint not null,
  lineage text not null,
  bytes integer not null,
  sealed_state sealed_text not null,
  restored_from integer,
  constraint stack_state_pkey PRIMARY KEY (id),
  constraint stack_state_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE,
  constraint stack_state_service_id_number_key UNIQUE (service_id, number)
);

create table state_change (
  id bigint not null generated always as identity,
  sequence bigint,
  created_at timestamp with time zone not null default clock_timestamp(),
  organization_id uuid not null,
  project_id uuid,
  mode text,
  cluster_id uuid,
  type text not null,
  data jsonb not null
);
CREATE UNIQUE INDEX state_change_sequence ON public.state_change USING btree (sequence) WHERE (sequence IS NOT NULL);
CREATE INDEX state_change_unsealed ON public.state_change USING btree (id) WHERE (sequence IS NULL);

create table state_change_feed (
  only_one boolean not null default true,
  last_sequence bigint not null default 0,
  pruned_sequence bigint not null default 0,
  constraint state_change_feed_only_one_check CHECK (only_one),
  constraint state_change_feed_pkey PRIMARY KEY (only_one)
);

create table tag_group (
  id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  kind text not null,
  name text not null,
  entries jsonb not null,
  scopes text[] not null default '{}'::text[],
  constraint tag_group_kind_check CHECK ((kind = ANY (ARRAY['annotations'::text, 'labels'::text]))),
  constraint tag_group_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint tag_group_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX tag_group_name ON public.tag_group USING btree (organization_id, kind, lower(name));

create table traffic_source (
  id uuid not null,
  batch bigint not null,
  stored_at timestamp with time zone not null,
  constraint traffic_source_pkey PRIMARY KEY (id)
);

create table traffic_summary (
  seconds integer not null,
  complete_until timestamp with time zone not null,
  constraint traffic_summary_pkey PRIMARY KEY (seconds)
);

create table traffic_total (
  service_id uuid not null,
  counts bigint[] not null,
  constraint traffic_total_pkey PRIMARY KEY (service_id),
  constraint traffic_total_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);

create table traffic_window (
  service_id uuid not null,
  seconds integer not null,
  starts_at timestamp with time zone not null,
  counts bigint[] not null,
  constraint traffic_window_pkey PRIMARY KEY (service_id, seconds, starts_at),
  constraint traffic_window_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id) ON DELETE CASCADE
);
CREATE INDEX traffic_window_age ON public.traffic_window USING btree (seconds, starts_at);

create table uploaded_certificate (
  custom_domain_id uuid not null,
  chain text not null,
  sealed_key sealed_text not null,
  issuer text not null,
  fingerprint text not null,
  not_before timestamp with time zone not null,
  not_after timestamp with time zone not null,
  uploaded_at timestamp with time zone not null,
  constraint uploaded_certificate_custom_domain_id_fkey FOREIGN KEY (custom_domain_id) REFERENCES custom_domain(id) ON DELETE CASCADE,
  constraint uploaded_certificate_pkey PRIMARY KEY (custom_domain_id)
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
  sealed_value sealed_text,
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
CREATE INDEX variable_built_in_base ON public.variable USING btree (base_built_in_id) WHERE (base_built_in_id IS NOT NULL);
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
  sealed_target_secret sealed_text,
  sealed_signing_secret sealed_text not null,
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
  response_body text,
  is_replay boolean not null default false,
  constraint webhook_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES event(id) ON DELETE CASCADE,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_response_body_check CHECK ((length(response_body) <= 1024)),
  constraint webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (next_attempt_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_event ON public.webhook_delivery USING btree (event_id);
CREATE UNIQUE INDEX webhook_delivery_first ON public.webhook_delivery USING btree (webhook_id, event_id) WHERE (NOT is_replay);
CREATE INDEX webhook_delivery_webhook ON public.webhook_delivery USING btree (webhook_id, created_at DESC);

create table workflow (
  id uuid not null,
  seq bigint not null generated always as identity,
  kind text not null,
  key text not null,
  state workflow_state not null default 'queued'::text,
  input jsonb not null,
  error text,
  cancel_requested boolean not null default false,
  owner text,
  fence bigint not null default 0,
  lease_until timestamp with time zone,
  attempts integer not null default 0,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  organization_id uuid,
  is_resting boolean not null default false,
  constraint workflow_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX workflow_one_running ON public.workflow USING btree (key) WHERE ((state)::text = 'running'::text);
CREATE INDEX workflow_waiting ON public.workflow USING btree (key, seq) WHERE ((state)::text = 'queued'::text);

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

CREATE OR REPLACE FUNCTION public.add_counts(a bigint[], b bigint[])
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT array_agg(LEAST((COALESCE(pair.x, (0)::bigint) + COALESCE(pair.y, (0)::bigint)), '4611686018427387904'::bigint) ORDER BY pair.place) AS array_agg FROM UNNEST(add_counts.a, add_counts.b) WITH ORDINALITY pair(x, y, place));

CREATE OR REPLACE FUNCTION public.auto_deploy_of(settings jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE((COALESCE((settings -> 'auto_deploy'::text), (settings #> '{auto_deploy_config,auto_deploy}'::text[])) = 'true'::jsonb), false);

CREATE OR REPLACE FUNCTION public.branch_of(settings jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE((settings #>> '{git_repository,branch}'::text[]), (settings #>> '{source,docker,git_repository,branch}'::text[]), (settings #>> '{source,git_repository,branch}'::text[]), (settings #>> '{terraform_files_source,git_repository,branch}'::text[]));

CREATE OR REPLACE FUNCTION public.delete_certificate_of_former_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from uploaded_certificate where custom_domain_id = new.id;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.erase_backup_file()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into erased_backup_file (path) values (old.path) on conflict do nothing;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.helm_repository_of(settings jsonb)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN identified((settings #>> '{source,helm_repository,repository}'::text[]));

CREATE OR REPLACE FUNCTION public.identified(text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ($1 ~ '^[0-9a-fA-F-]{36}$'::text) THEN ($1)::uuid ELSE NULL::uuid END;

CREATE OR REPLACE FUNCTION public.image_name_of(settings jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE((settings #>> '{source,image,image_name}'::text[]), (settings ->> 'image_name'::text));

CREATE OR REPLACE FUNCTION public.job_state(job uuid, state text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if exists (select from job_run r where r.service_id = job and r.status = 'RUNNING') then return 'running'; end if;
  if state in ('STOPPED', 'DELETED') then return 'stopped'; end if;
  return coalesce((
    select case r.status when 'SUCCESS' then 'completed' else 'failing' end from job_run r
    where r.service_id = job and r.status in ('SUCCESS', 'ERROR') order by r.finished_at desc, r.id desc limit 1), 'stopped');
end $function$;

CREATE OR REPLACE FUNCTION public.job_type_of(settings jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (jsonb_typeof((settings -> 'schedule'::text)) = 'object'::text) THEN CASE WHEN (jsonb_typeof((settings #> '{schedule,cronjob}'::text[])) = 'object'::text) THEN 'CRON'::text ELSE 'LIFECYCLE'::text END ELSE NULL::text END;

CREATE OR REPLACE FUNCTION public.keep_custom_domain_in_environment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.number_of(value jsonb)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (jsonb_typeof(value) = 'number'::text) THEN (value)::double precision ELSE NULL::double precision END;

CREATE OR REPLACE FUNCTION public.public_address(of_service uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN (SELECT known.address FROM (SELECT jsonb_build_object('host', p.host, 'port', p.port) AS address FROM public_port p WHERE (p.service_id = public_address.of_service) UNION ALL SELECT CASE WHEN (k.traffic_domain IS NULL) THEN jsonb_build_object('host', split_part(r.host, ':'::text, 1), 'port', r.public_port) ELSE r.outside END AS outside FROM (((route r JOIN service s ON ((s.id = r.service_id))) JOIN environment e ON ((e.id = s.environment_id))) JOIN cluster k ON ((k.id = e.cluster_id))) WHERE ((r.service_id = public_address.of_service) AND (r.public_port IS NOT NULL))) known LIMIT 1);

CREATE OR REPLACE FUNCTION public.record_backup_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'backup.status', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'backup_id', new.id, 'state', new.state,
    'proof_state', new.proof_state, 'restore_state', new.restore_state)
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = new.service_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_cluster_health()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, cluster_id, type, data)
  select organization_id, id, 'cluster.status', jsonb_build_object('cluster_id', id, 'status', status)
    from cluster where id = new.cluster_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_cluster_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, cluster_id, type, data)
  values (new.organization_id, new.id, 'cluster.status', jsonb_build_object('cluster_id', new.id, 'status', new.status));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_copy_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, project_id, mode, type, data)
  values (new.organization_id, new.project_id, new.mode, 'copy.status', jsonb_build_object('project_id', new.project_id,
    'environment_id', new.environment_id, 'copy_id', new.id, 'status', new.status));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_deployment_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'deployment.status', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'deployment_request_id', new.id, 'execution_id', new.execution_id, 'action', new.action,
    'status', new.status)
  from environment e join project p on p.id = e.project_id where e.id = new.environment_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_domain_change(changed_service uuid, changed_subject text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'service.changed', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'subject', changed_subject)
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = changed_service
$function$;

CREATE OR REPLACE FUNCTION public.record_domain_proof()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_domain_change(new.service_id, 'CUSTOM_DOMAIN');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_environment_row()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed environment := coalesce(new, old);
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, changed.mode, changed.cluster_id, tg_argv[0],
    jsonb_build_object('project_id', p.id, 'environment_id', changed.id)
  from project p where p.id = changed.project_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_host_certificate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform record_domain_change(service_id, 'CERTIFICATE') from custom_domain where domain = new.host;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_job_state()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'service.running', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'state', job_state(s.id, s.state))
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = (to_jsonb(new) ->> tg_argv[0])::uuid;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_observation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, 'service.running', jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', s.id, 'kind', s.kind, 'state', new.state)
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
  where s.id = new.service_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_service_row()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed service := coalesce(new, old);
begin
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, tg_argv[0], jsonb_build_object('project_id', p.id,
    'environment_id', e.id, 'service_id', changed.id, 'kind', changed.kind, 'state', changed.state)
  from environment e join project p on p.id = e.project_id where e.id = changed.environment_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sealed audit_event;
begin
  if tg_op = 'UPDATE' then
    sealed := old;
    sealed.sequence := new.sequence;
    sealed.hash := new.hash;
    if old.sequence is null and new is not distinct from sealed then return new; end if;
  elsif tg_op = 'DELETE' then
    if old.sequence <= (select anchor_sequence from audit_chain where organization_id = old.organization_id) then
      return old;
    end if;
  end if;
  raise exception 'the record of changes cannot be changed' using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.registry_of(settings jsonb)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN identified(COALESCE((settings ->> 'registry_id'::text), (settings #>> '{source,image,registry_id}'::text[])));

CREATE OR REPLACE FUNCTION public.repository_address(url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN (url ~ '^https?://[a-z0-9.-]+/.*[.]git$'::text) THEN url ELSE (SELECT CASE WHEN (part.scheme IS NULL) THEN repository_address.url ELSE ((((part.scheme || '://'::text) || part.host) || CASE WHEN (part.port = ANY (ARRAY[''::text, ':'::text, CASE part.scheme WHEN 'https'::text THEN ':443'::text ELSE ':80'::text END])) THEN ''::text ELSE part.port END) || CASE WHEN ((part.path = ''::text) OR ("right"(part.path, 4) = '.git'::text)) THEN part.path ELSE (part.path || '.git'::text) END) END AS "case" FROM (SELECT lower(address.parts[1]) AS scheme, lower(address.parts[2]) AS host, COALESCE(address.parts[4], ''::text) AS path, regexp_replace(COALESCE(address.parts[3], ''::text), '^:0+(?=[0-9])'::text, ':'::text) AS port FROM (SELECT regexp_match(rtrim(repository_address.url, '/'::text), '^(https?)://(\[[^]/]*\]|[^/:[]+)(:[0-9]*)?(/.*)?$'::text, 'i'::text) AS parts) address) part) END AS "case");

CREATE OR REPLACE FUNCTION public.repository_urls_of(settings jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN array_remove(ARRAY[(settings #>> '{git_repository,url}'::text[]), (settings #>> '{source,docker,git_repository,url}'::text[]), (settings #>> '{source,git_repository,url}'::text[]), (settings #>> '{values_override,file,git,git_repository,url}'::text[]), (settings #>> '{terraform_files_source,git_repository,url}'::text[])], NULL::text);

CREATE OR REPLACE FUNCTION public.version_of(settings jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE((settings ->> 'tag'::text), (settings ->> 'version'::text), (settings #>> '{source,image,tag}'::text[]), (settings #>> '{source,helm_repository,chart_version}'::text[]));

CREATE TRIGGER audit_event_is_not_emptied BEFORE TRUNCATE ON public.audit_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_event_stays BEFORE DELETE OR UPDATE ON public.audit_event FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER backup_file_deleted AFTER DELETE ON public.backup_file FOR EACH ROW EXECUTE FUNCTION erase_backup_file();

CREATE TRIGGER backup_requested AFTER INSERT ON public.backup FOR EACH ROW EXECUTE FUNCTION record_backup_status();

CREATE TRIGGER backup_status AFTER UPDATE OF state, proof_state, restore_state ON public.backup FOR EACH ROW WHEN ((((old.state IS DISTINCT FROM new.state) OR (old.proof_state IS DISTINCT FROM new.proof_state)) OR (old.restore_state IS DISTINCT FROM new.restore_state))) EXECUTE FUNCTION record_backup_status();

CREATE TRIGGER cluster_health_first AFTER INSERT ON public.cluster_health FOR EACH ROW EXECUTE FUNCTION record_cluster_health();

CREATE TRIGGER cluster_health_state AFTER UPDATE OF state ON public.cluster_health FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION record_cluster_health();

CREATE TRIGGER cluster_status AFTER UPDATE OF status ON public.cluster FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION record_cluster_status();

CREATE TRIGGER copy_requested AFTER INSERT ON public.copy_record FOR EACH ROW EXECUTE FUNCTION record_copy_status();

CREATE TRIGGER copy_status AFTER UPDATE OF status ON public.copy_record FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION record_copy_status();

CREATE TRIGGER custom_domain_in_environment BEFORE INSERT OR UPDATE OF domain, proof ON public.custom_domain FOR EACH ROW EXECUTE FUNCTION keep_custom_domain_in_environment();

CREATE TRIGGER custom_domain_proof AFTER UPDATE OF proof, lost_since, finding ON public.custom_domain FOR EACH ROW WHEN ((((old.proof IS DISTINCT FROM new.proof) OR (old.lost_since IS DISTINCT FROM new.lost_since)) OR (old.finding IS DISTINCT FROM new.finding))) EXECUTE FUNCTION record_domain_proof();

CREATE TRIGGER custom_domain_renamed AFTER UPDATE OF domain ON public.custom_domain FOR EACH ROW WHEN ((old.domain <> new.domain)) EXECUTE FUNCTION delete_certificate_of_former_name();

CREATE TRIGGER deployment_status AFTER UPDATE OF status ON public.deployment_request FOR EACH ROW WHEN (((old.status)::text IS DISTINCT FROM (new.status)::text)) EXECUTE FUNCTION record_deployment_status();

CREATE TRIGGER environment_created AFTER INSERT ON public.environment FOR EACH ROW EXECUTE FUNCTION record_environment_row('environment.created');

CREATE TRIGGER environment_deleted AFTER DELETE ON public.environment FOR EACH ROW EXECUTE FUNCTION record_environment_row('environment.deleted');

CREATE TRIGGER host_certificate_first AFTER INSERT ON public.host_certificate FOR EACH ROW EXECUTE FUNCTION record_host_certificate();

CREATE TRIGGER host_certificate_state AFTER UPDATE OF chain, finding, failures ON public.host_certificate FOR EACH ROW WHEN ((((old.chain IS DISTINCT FROM new.chain) OR (old.finding IS DISTINCT FROM new.finding)) OR (old.failures IS DISTINCT FROM new.failures))) EXECUTE FUNCTION record_host_certificate();

CREATE TRIGGER job_run_status AFTER UPDATE OF status ON public.job_run FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) AND (new.status <> 'SKIPPED'::text) AND (NOT ((old.status = 'QUEUED'::text) AND (new.status = 'CANCELED'::text))))) EXECUTE FUNCTION record_job_state('service_id');

CREATE TRIGGER job_stopped AFTER UPDATE OF state ON public.service FOR EACH ROW WHEN ((((new.kind)::text = 'job'::text) AND ((old.state = ANY (ARRAY['STOPPED'::text, 'DELETED'::text])) <> (new.state = ANY (ARRAY['STOPPED'::text, 'DELETED'::text]))))) EXECUTE FUNCTION record_job_state('id');

CREATE TRIGGER observation_written AFTER INSERT OR UPDATE ON public.observation FOR EACH ROW EXECUTE FUNCTION record_observation();

CREATE TRIGGER service_created AFTER INSERT ON public.service FOR EACH ROW EXECUTE FUNCTION record_service_row('service.created');

CREATE TRIGGER service_deleted AFTER DELETE ON public.service FOR EACH ROW EXECUTE FUNCTION record_service_row('service.deleted');

CREATE TRIGGER service_state AFTER UPDATE OF state ON public.service FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) AND (new.state !~~ '%_QUEUED'::text))) EXECUTE FUNCTION record_service_row('service.state');

create domain deployment_action as text CHECK ((VALUE = ANY (ARRAY['DEPLOY'::text, 'STOP'::text, 'RESTART'::text, 'DELETE'::text, 'UNINSTALL'::text])));

create domain environment_mode as text CHECK ((VALUE = ANY (ARRAY['DEVELOPMENT'::text, 'PREVIEW'::text, 'PRODUCTION'::text, 'STAGING'::text])));

create domain job_event as text CHECK ((VALUE = ANY (ARRAY['START'::text, 'STOP'::text, 'DELETE'::text, 'CRON'::text])));

create domain request_status as text CHECK ((VALUE = ANY (ARRAY['QUEUED'::text, 'ONGOING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text, 'CANCELING'::text])));

create domain sealed_text as text;

create domain service_kind as text CHECK ((VALUE = ANY (ARRAY['application'::text, 'container'::text, 'database'::text, 'job'::text, 'helm'::text, 'terraform'::text])));

create domain target_status as text CHECK ((VALUE = ANY (ARRAY['QUEUED'::text, 'ONGOING'::text, 'SUCCESS'::text, 'ERROR'::text, 'CANCELED'::text, 'CANCELING'::text, 'SKIPPED'::text])));

create domain workflow_state as text CHECK ((VALUE = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text, 'canceled'::text, 'parked'::text])));
