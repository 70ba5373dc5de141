-- Who changed what: one row for each change, written in its transaction and sealed into a chain afterwards; and what was answered to
-- requests that carry a key of their client's.

-- Without foreign keys: it outlives what it tells of. Rows of organizations that are gone are pruned.
create table audit_event (
  id uuid primary key,
  organization_id uuid not null,
  -- the order in which rows were written; the chain has one of its own
  position bigint generated always as identity,
  created_at timestamptz not null,
  event_type text not null,
  target_type text not null,
  target_id uuid,
  target_name text not null,
  sub_target_type text,
  project_id uuid,
  project_name text not null,
  environment_id uuid,
  environment_name text not null,
  origin text not null,
  triggered_by text not null,
  caller text not null,
  user_agent text,
  -- JSON of the object after the change and before it, without secrets
  change text not null,
  original_change text,
  request_id text not null,
  -- set when it is sealed: its number in the organization, and SHA-256 over the hash before it and the row
  sequence bigint,
  hash bytea,
  check ((sequence is null) = (hash is null))
);
create index audit_event_newest on audit_event (organization_id, created_at desc, id desc);
create index audit_event_unsealed on audit_event (organization_id, position) where sequence is null;
create unique index audit_event_sequence on audit_event (organization_id, sequence) where sequence is not null;

-- Where the chain of an organization ends, and what it begins after: rows up to the anchor were pruned.
create table audit_chain (
  organization_id uuid primary key,
  sequence bigint not null default 0,
  hash bytea not null default '',
  anchor_sequence bigint not null default 0,
  anchor_hash bytea not null default ''
);

create function refuse_audit_change() returns trigger language plpgsql as $$
declare
  sealed audit_event;
begin
  if tg_op = 'UPDATE' then
    sealed := old;
    sealed.sequence := new.sequence;
    sealed.hash := new.hash;
    if old.sequence is null and new is not distinct from sealed then return new; end if;
  elsif tg_op = 'DELETE' then
    if old.sequence <= (select anchor_sequence from audit_chain where organization_id = old.organization_id) then
      return old;
    end if;
  end if;
  raise exception 'the record of changes cannot be changed' using errcode = 'restrict_violation';
end $$;
create trigger audit_event_stays before update or delete on audit_event
  for each row execute function refuse_audit_change();
create trigger audit_event_is_not_emptied before truncate on audit_event
  for each statement execute function refuse_audit_change();

-- What was answered to a request with an Idempotency-Key. A row without a reply is of a request that is under way.
create table kept_reply (
  caller text not null,
  key text not null,
  organization_id uuid references organization on delete cascade,
  -- SHA-256 of the operation, its path and its body
  request_hash bytea not null,
  created_at timestamptz not null,
  status integer,
  -- sealed; null where the reply has no body
  body text,
  primary key (caller, key)
);
create index kept_reply_oldest on kept_reply (created_at);
create index kept_reply_organization on kept_reply (organization_id);
