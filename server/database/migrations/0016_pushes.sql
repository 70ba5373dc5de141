-- What was pushed to git repositories, by whom we heard of it, and what it deployed.

-- One for each repository of the built-in git host that was ever pushed to; `version` grows with each comparison that found something.
create table hosted_repository (
  organization_id uuid not null references organization (id) on delete cascade,
  name text not null,
  version bigint not null default 0,
  primary key (organization_id, name)
);

-- The branches of it whose commits were written down as pushes.
create table hosted_branch (
  organization_id uuid not null,
  repository text not null,
  name text not null,
  commit text not null,
  primary key (organization_id, repository, name),
  foreign key (organization_id, repository) references hosted_repository (organization_id, name) on delete cascade
);

-- A push that git is taking in: whoever finds one that nobody ends compares the branches.
create table git_receive (
  id uuid primary key,
  organization_id uuid not null,
  repository text not null,
  pusher text not null,
  started_at timestamptz not null,
  foreign key (organization_id, repository) references hosted_repository (organization_id, name) on delete cascade
);
create index git_receive_repository on git_receive (organization_id, repository);

-- Where a git provider tells of pushes: a part of an address, and the secret that its messages are signed with.
create table git_webhook (
  id uuid primary key,
  organization_id uuid not null references organization (id) on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  provider text not null check (provider in ('BITBUCKET', 'GITHUB', 'GITLAB')),
  description text not null default '',
  sealed_secret text not null
);
create index git_webhook_organization on git_webhook (organization_id, created_at);

-- Signed messages that came in, so that none acts twice.
create table git_webhook_delivery (
  git_webhook_id uuid not null references git_webhook (id) on delete cascade,
  -- as the provider calls it
  delivery_id text not null,
  -- SHA-256 of the body, where the signature does not cover the id
  digest bytea,
  received_at timestamptz not null,
  event text not null,
  status text not null check (status in ('ACCEPTED', 'IGNORED')),
  reason text,
  primary key (git_webhook_id, delivery_id)
);
create unique index git_webhook_delivery_digest on git_webhook_delivery (git_webhook_id, digest);
create index git_webhook_delivery_newest on git_webhook_delivery (git_webhook_id, received_at desc);
create index git_webhook_delivery_received on git_webhook_delivery (received_at);

-- A branch that was pushed; the workflow of the same id decides what it deploys.
create table git_push (
  id uuid primary key references workflow (id) on delete cascade,
  seq bigint generated always as identity,
  organization_id uuid not null references organization (id) on delete cascade,
  source text not null check (source in ('BITBUCKET', 'BUILT_IN', 'GITHUB', 'GITLAB')),
  -- what all addresses of the repository have in common
  repositories text[] not null,
  branch text not null,
  -- null: the branch is new
  before text,
  commit text not null,
  pusher text not null,
  -- paths of changed files where the provider told them all
  paths text[],
  received_at timestamptz not null,
  handled_at timestamptz
);
create index git_push_organization on git_push (organization_id, seq desc);
create index git_push_received on git_push (received_at);

-- What a push meant for one service. Without a foreign key: it tells of services that are gone, too.
create table git_push_service (
  push_id uuid not null references git_push (id) on delete cascade,
  service_id uuid not null,
  service_name text not null,
  kind text not null,
  environment_id uuid not null,
  environment_name text not null,
  environment_mode text not null,
  project_id uuid not null,
  result text not null check (result in ('DEPLOYED', 'LEFT_OUT', 'REFUSED')),
  reason text,
  request_id uuid,
  primary key (push_id, service_id)
);
