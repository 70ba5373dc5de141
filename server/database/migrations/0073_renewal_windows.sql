-- When the authority is asked again for its renewal window (RFC 9773). Null: at once.
alter table host_certificate add column window_ask_at timestamptz;
