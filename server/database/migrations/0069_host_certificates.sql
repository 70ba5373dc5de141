-- Accounts at certificate authorities, by the address of their directory (RFC 8555). The master key
-- seals the private keys of both tables.
create table acme_account (
  directory text primary key,
  url text not null,
  sealed_key text not null,
  created_at timestamptz not null
);

-- Certificates for hosts of the platform's own router, and the attempts to get them.
create table host_certificate (
  host text primary key,
  -- The certificate and those of its issuers, in PEM format. Null until the first one was issued.
  chain text,
  sealed_key text,
  not_before timestamptz,
  not_after timestamptz,
  -- Failed attempts since the last certificate.
  failures integer not null default 0,
  tried_at timestamptz,
  -- Why the last attempt failed.
  finding text,
  -- When the next attempt begins.
  due_at timestamptz not null,
  -- The question of the authority that waits for its answer.
  challenge_token text,
  challenge_answer text,
  updated_at timestamptz not null,
  check (num_nulls(chain, sealed_key, not_before, not_after) in (0, 4)),
  check (num_nulls(challenge_token, challenge_answer) in (0, 2))
);
