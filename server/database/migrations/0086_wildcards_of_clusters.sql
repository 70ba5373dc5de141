-- The domain of the cluster whose DNS lets the platform prove a wildcard of it, and when DNS was last
-- asked. In `host_certificate` that wildcard has the name `*.<domain>/<id of the cluster>`, because
-- several clusters may name one domain.
alter table cluster add column wildcard_domain text;
alter table cluster add column wildcard_asked_at timestamptz;
