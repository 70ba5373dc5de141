-- What of a service's settings is secret: the password of a database's owner (`password`), made with it, and secret variables of a
-- Terraform stack (`tf_vars.<key>`). A value is sealed for the row `<service id> <name>`.
create table service_secret (
  service_id uuid not null references service on delete cascade,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  sealed_value text not null,
  primary key (service_id, name)
);
