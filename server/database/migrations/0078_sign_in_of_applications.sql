-- Services behind the sign-in of the platform: who may enter.
alter table service
  add column sign_in text generated always as (nullif(advanced_settings ->> 'network.router.sign_in', '')) stored;

-- They accept no token of the account from before this time.
alter table account add column signed_out_at timestamptz;
