-- Logins that the router asks for, with salted hashes of their passwords, as they were when the version was made.
alter table release add column basic_auth jsonb;
