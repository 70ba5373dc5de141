-- Whether routers of the platform in pods of the cluster carry its traffic over TLS. The router of
-- the cluster reports it.
alter table cluster add column has_own_tls boolean not null default false;
