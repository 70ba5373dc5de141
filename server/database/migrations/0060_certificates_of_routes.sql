-- How hosts of a cluster with a domain get certificates, from its advanced settings.
alter table cluster
  add column tls_secret text generated always as (nullif(advanced_settings ->> 'tls.secret_name', '')) stored,
  add column tls_issuer text generated always as (nullif(advanced_settings ->> 'tls.cluster_issuer', '')) stored,
  add column tls_by_controller boolean not null generated always as (
    coalesce(advanced_settings -> 'tls.controller_certificate' = 'true', false)) stored;

-- The certificate of the host as its router last reported it. Null: it has none.
alter table route add column certificate jsonb;
