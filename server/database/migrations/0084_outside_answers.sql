-- States of sign-ins at outside issuers that came back. Each counts once, at any server. Only their
-- digests are stored, until the sign-in page of which they are a part has expired.
create table outside_state (
  state_hash text primary key,
  expires_at timestamptz not null
);
create index outside_state_expires_at on outside_state (expires_at);

-- How many failed answers an outside issuer was asked about. The number falls with time.
create table outside_failure (
  issuer text primary key,
  failures double precision not null,
  counted_at timestamptz not null
);
