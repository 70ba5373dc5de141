-- A wildcard proves itself by a record in DNS. `challenge_token` is then the name of the record.
alter table host_certificate drop constraint host_certificate_challenge_kind_check;
alter table host_certificate add constraint host_certificate_challenge_kind_check
  check (challenge_kind in ('http-01', 'tls-alpn-01', 'dns-01'));
