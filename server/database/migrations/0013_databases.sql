-- What a database has on this machine beside its container.

-- Where it answers outside of its environment, while it is public; kept, so that it stays the same over deployments.
create table public_port (
  service_id uuid primary key references service on delete cascade,
  host text not null,
  port integer not null unique
);

-- The version that last had the data of a database: not every version can open what another one has written. Null: there is no data.
alter table service add column data_version text;
update service set data_version = settings ->> 'version' where kind = 'database' and last_deployment_date is not null;

-- The port that a version of a public database was started with.
alter table release add column public_port integer;
