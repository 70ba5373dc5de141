-- An organization may have several data keys: the one of the highest number seals, the former ones open what they sealed until that is sealed anew.
create table data_key (
  organization_id uuid not null references organization on delete cascade,
  number int not null check (number > 0),
  -- sealed by the master key
  wrapped_key text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, number)
);
insert into data_key (organization_id, number, wrapped_key, created_at)
select id, 1, data_key, created_at from organization where data_key is not null;
alter table organization drop column data_key;

-- The last rotation of each organization's keys.
create table key_rotation (
  organization_id uuid primary key references organization on delete cascade,
  -- its workflow
  id uuid not null unique,
  -- ids of the keys that are to go
  former_keys text[] not null default '{}',
  started_at timestamptz not null,
  ended_at timestamptz,
  failure text
);
