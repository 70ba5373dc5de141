-- What jobs and Terraform stacks told at their end: built-in variables of every service of their environment.
create table service_output (
  id uuid primary key,
  service_id uuid not null references service on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  key text not null,
  description text not null default '',
  is_secret boolean not null,
  -- exactly one of the two; sealed as the texts of secrets are
  value text,
  sealed_value text,
  unique (service_id, key),
  check (is_secret = (value is null)),
  check (num_nonnulls(value, sealed_value) = 1)
);

-- Variables are looked for by what they stand on when a built-in one of a service goes or is copied.
create index variable_built_in_base on variable (base_built_in_id) where base_built_in_id is not null;
