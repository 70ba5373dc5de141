-- Marks of route tables look for these services every few seconds.
create index service_sign_in on service (environment_id) where sign_in is not null;
