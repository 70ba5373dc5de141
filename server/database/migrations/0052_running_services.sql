-- Observations list the services with a release every second. Services without one are not read for that.
create index service_running on service (id) where release_id is not null;
