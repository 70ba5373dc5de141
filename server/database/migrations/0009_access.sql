-- Roles, members, invitations, accounts of this platform, and what its own OpenID Connect issuer keeps.

-- Built-in roles have no row: their ids are derived from the organization's.
create table custom_role (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1,
  name text not null,
  description text not null default '',
  unique (organization_id, id)
);
create unique index custom_role_name on custom_role (organization_id, lower(name));

-- What differs from the default: VIEWER of a cluster, NO_ACCESS to a project.
create table custom_role_cluster (
  role_id uuid not null references custom_role on delete cascade,
  cluster_id uuid not null references cluster on delete cascade,
  permission text not null check (permission in ('VIEWER', 'ENV_CREATOR', 'ADMIN')),
  primary key (role_id, cluster_id)
);
create index custom_role_cluster_cluster on custom_role_cluster (cluster_id);

create table custom_role_project (
  role_id uuid not null references custom_role on delete cascade,
  project_id uuid not null references project on delete cascade,
  is_admin boolean not null default false,
  development text not null default 'NO_ACCESS' check (development in ('NO_ACCESS', 'VIEWER', 'DEPLOYER', 'MANAGER')),
  preview text not null default 'NO_ACCESS' check (preview in ('NO_ACCESS', 'VIEWER', 'DEPLOYER', 'MANAGER')),
  staging text not null default 'NO_ACCESS' check (staging in ('NO_ACCESS', 'VIEWER', 'DEPLOYER', 'MANAGER')),
  production text not null default 'NO_ACCESS' check (production in ('NO_ACCESS', 'VIEWER', 'DEPLOYER', 'MANAGER')),
  primary key (role_id, project_id)
);
create index custom_role_project_project on custom_role_project (project_id);

-- Somebody has a built-in role, a custom one, or permissions on everything.
alter table member
  add column role text check (role in ('OWNER', 'ADMIN', 'DEVOPS', 'BILLING_MANAGER', 'VIEWER')),
  add column custom_role_id uuid,
  -- all that the custom role says: the first statement of each request reads it here
  add column custom_rights jsonb,
  -- as the settings said it of people of an outside issuer: a change there is told from one made here
  add column listed text,
  add column updated_at timestamptz not null default now(),
  alter column permissions set default '{}',
  add foreign key (organization_id, custom_role_id) references custom_role (organization_id, id);
update member set role = 'ADMIN', permissions = '{}' where 'ADMIN' = any(permissions);
update member set role = 'VIEWER', permissions = '{}' where permissions = '{READ}';
alter table member
  add constraint member_one_role check (num_nonnulls(nullif(permissions, '{}'), role, custom_role_id) = 1),
  add constraint member_custom_rights check ((custom_role_id is null) = (custom_rights is null));
create unique index member_owner on member (organization_id) where role = 'OWNER';
create index member_account on member (account_id);
create index member_custom_role on member (custom_role_id) where custom_role_id is not null;

alter table api_token
  add column role text check (role in ('OWNER', 'ADMIN', 'DEVOPS', 'BILLING_MANAGER', 'VIEWER')),
  add column custom_role_id uuid,
  add column custom_rights jsonb,
  -- the person who made it: a token ends with the membership of its maker
  add column creator_account_id uuid,
  alter column permissions set default '{}',
  add constraint api_token_one_role check (num_nonnulls(nullif(permissions, '{}'), role, custom_role_id) = 1),
  add constraint api_token_custom_rights check ((custom_role_id is null) = (custom_rights is null)),
  add foreign key (organization_id, custom_role_id) references custom_role (organization_id, id),
  add foreign key (organization_id, creator_account_id) references member (organization_id, account_id) on delete cascade;
create index api_token_custom_role on api_token (custom_role_id) where custom_role_id is not null;
create index api_token_creator on api_token (organization_id, creator_account_id) where creator_account_id is not null;

alter table account
  add column updated_at timestamptz,
  -- of people of this platform: where they sign in with; of others unknown
  add column email text,
  add column first_name text not null default '',
  add column last_name text not null default '',
  add column communication_email text,
  add column last_used_at timestamptz;
update account set updated_at = created_at;
alter table account alter column updated_at set not null;
create unique index account_email on account (lower(email)) where email is not null;

create table invitation (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  email text not null,
  role text check (role in ('ADMIN', 'DEVOPS', 'BILLING_MANAGER', 'VIEWER')),
  custom_role_id uuid,
  inviter text not null,
  expires_at timestamptz not null,
  check (num_nonnulls(role, custom_role_id) = 1),
  foreign key (organization_id, custom_role_id) references custom_role (organization_id, id)
);
create unique index invitation_email on invitation (organization_id, lower(email));
create index invitation_custom_role on invitation (custom_role_id) where custom_role_id is not null;

-- scrypt; the parameters may grow, a hash says with which it was made
create table account_password (
  account_id uuid primary key references account on delete cascade,
  updated_at timestamptz not null,
  salt bytea not null,
  hash bytea not null,
  cost integer not null,
  block_size integer not null,
  parallelization integer not null
);

-- The way in before there is an account: a link that is good once. Only its digest is kept.
create table account_link (
  token_hash bytea primary key,
  organization_id uuid not null references organization on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index account_link_organization on account_link (organization_id);

-- Failed attempts to sign in, by account and by address; they outlive a restart.
create table sign_in_attempt (
  subject text primary key,
  failures integer not null,
  blocked_until timestamptz,
  last_failed_at timestamptz not null
);

create table issuer_key (
  id uuid primary key,
  created_at timestamptz not null,
  public_key jsonb not null,
  sealed_private_key text not null
);

create table issuer_client (
  id text primary key,
  created_at timestamptz not null,
  name text not null,
  redirect_uris text[] not null,
  grant_types text[] not null
);

-- Sessions, codes, grants and refresh tokens of the issuer. Ids are digests, what they stand for is sealed.
create table issuer_record (
  model text not null,
  id_hash text not null,
  sealed_payload text not null,
  grant_id text,
  uid text,
  user_code_hash text,
  account_id uuid references account on delete cascade,
  consumed_at timestamptz,
  expires_at timestamptz,
  primary key (model, id_hash)
);
create index issuer_record_grant on issuer_record (grant_id) where grant_id is not null;
create index issuer_record_uid on issuer_record (model, uid) where uid is not null;
create index issuer_record_user_code on issuer_record (model, user_code_hash) where user_code_hash is not null;
create index issuer_record_account on issuer_record (account_id) where account_id is not null;
create index issuer_record_expiry on issuer_record (expires_at) where expires_at is not null;
