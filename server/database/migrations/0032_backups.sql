-- Backups of what the volumes of services hold: their records, their files, and when they are made by themselves.

create table backup (
  -- Of its workflow, too; the volumes that it is copied into meanwhile are owned by a service of this id, which has no record.
  id uuid primary key,
  service_id uuid not null references service (id) on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  name text not null,
  message text not null default '',
  -- The version of a database that had the data.
  data_version text,
  state text not null default 'QUEUED' check (state in ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED')),
  reason text,
  -- Of the workflow that proves it at present; what that starts is of a service and an environment of this id, which have no record.
  proof_id uuid,
  proof_state text not null default 'NONE' check (proof_state in ('NONE', 'RUNNING', 'PROVEN', 'FAILED')),
  proof_at timestamptz,
  proof_reason text,
  restore_state text not null default 'NONE' check (restore_state in ('NONE', 'RUNNING', 'SUCCEEDED', 'FAILED')),
  restore_at timestamptz,
  restore_reason text
);
create index backup_service on backup (service_id, created_at desc, id desc);
create index backup_proof on backup (proof_id) where proof_id is not null;
create index backup_unfinished on backup (service_id) where state in ('QUEUED', 'RUNNING');

-- Restores that are under way.
create table backup_restore (
  -- Of its workflow, too.
  id uuid primary key,
  backup_id uuid not null references backup (id) on delete cascade,
  -- STOPPING: the service is stopped, and what it has is backed up; WRITING: its volumes are not what they were.
  phase text not null default 'CHECKING' check (phase in ('CHECKING', 'STOPPING', 'WRITING')),
  was_running boolean not null default false,
  -- The request that stops the service.
  stop_request uuid,
  -- Why it cannot go on: from here on it goes back.
  failure text
);

-- What one volume held. The file is named before it is written.
create table backup_file (
  backup_id uuid not null references backup (id) on delete cascade,
  number integer not null,
  mount_point text not null,
  -- Below the directory of backups.
  path text not null,
  archive_bytes bigint,
  file_bytes bigint,
  entries integer,
  digest text,
  sealed_key text,
  primary key (backup_id, number)
);

-- Files that nobody needs any more, until they are removed: whatever takes the record away, its file follows.
create table erased_backup_file (
  path text primary key
);
create function erase_backup_file() returns trigger language plpgsql as $$
begin
  insert into erased_backup_file (path) values (old.path) on conflict do nothing;
  return null;
end $$;
create trigger backup_file_deleted after delete on backup_file for each row execute function erase_backup_file();

create table backup_policy (
  service_id uuid primary key references service (id) on delete cascade,
  cron_at text,
  timezone text not null,
  keep integer not null check (keep between 1 and 100),
  -- Null: none is made by itself.
  next_at timestamptz
);
create index backup_policy_next on backup_policy (next_at) where next_at is not null;

-- The restore that has the service at present: nothing else is done to it meanwhile.
alter table service add column restoring uuid;
