-- What deployments of charts that only showed their changes have shown, without secrets.
create table chart_diff (
  id uuid primary key,
  service_id uuid not null references service (id) on delete cascade,
  request_id uuid not null,
  release_id uuid not null,
  -- The version that was installed then. Null: none.
  compared_release_id uuid,
  created_at timestamptz not null,
  diff jsonb not null,
  unique (service_id, request_id)
);
create index chart_diff_service on chart_diff (service_id, created_at desc);
