-- How the current or the next attempt proves the host to the authority. Null: nothing was tried.
alter table host_certificate
  add column challenge_kind text check (challenge_kind in ('http-01', 'tls-alpn-01'));
