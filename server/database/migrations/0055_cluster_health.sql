-- What connected clusters last reported, so that answers do not wait for them.
create table cluster_health (
  cluster_id uuid primary key references cluster (id) on delete cascade,
  state text not null check (state in ('REACHABLE', 'UNREACHABLE', 'REFUSED')),
  since timestamptz not null,
  reason text,
  kubernetes_version text,
  node_count integer,
  cpu_milli bigint,
  memory_mib bigint
);
alter table cluster_operation drop constraint cluster_operation_kind_check;
alter table cluster_operation add constraint cluster_operation_kind_check
  check (kind in ('DEPLOY', 'UPGRADE', 'DRY_RUN', 'STOP', 'DELETE'));
