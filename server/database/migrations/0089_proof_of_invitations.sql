-- Several accounts may have one address, because nothing proves that a mailbox belongs to an account.
drop index account_email;
create index account_email on account (lower(email), created_at, id) where email is not null;

-- An invitation ends with the membership of its inviter. Null for tokens that no person created.
alter table invitation
  add column inviter_account_id uuid,
  add foreign key (organization_id, inviter_account_id) references member (organization_id, account_id)
    on delete cascade;
create index invitation_inviter on invitation (organization_id, inviter_account_id) where inviter_account_id is not null;
