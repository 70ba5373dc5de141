-- What the last measurement of the disk found of each organization, beside its services; backups are in backup_file.
create table organization_disk (
  organization_id uuid primary key references organization (id) on delete cascade,
  measured_at timestamptz not null,
  images_bytes bigint not null,
  repositories_bytes bigint not null,
  logs_bytes bigint not null,
  -- Volumes of backups in progress.
  scratch_bytes bigint not null,
  -- Far beyond its limit: the next measurement decides.
  is_over boolean not null
);

-- What it found of each service: a volume by the id of its storage, and all writable layers together as LAYERS. Growth is counted from kept_bytes.
create table service_disk (
  service_id uuid not null references service (id) on delete cascade,
  part text not null,
  bytes bigint not null,
  kept_bytes bigint not null,
  primary key (service_id, part)
);
