-- What a browser or program said about itself when it got a session or a refresh token.
alter table issuer_record add column agent text;

-- When a person last ended sessions. Access tokens that were issued before are refused.
alter table account add column tokens_since timestamptz;
