-- People of an outside issuer sign in at the platform too. Their sessions last as long as the last
-- sign-in at that issuer counts.
alter table account add column outside_signed_in_at timestamptz;
-- The address that the issuer verified, for applications. It is never used to find an account.
alter table account add column outside_email text;
