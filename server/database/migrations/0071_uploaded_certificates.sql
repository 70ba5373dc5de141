-- Certificates that users uploaded for their custom domains. The organization's data key seals the
-- private keys.
create table uploaded_certificate (
  custom_domain_id uuid primary key references custom_domain on delete cascade,
  -- The certificate and the ones of its issuers, in PEM format.
  chain text not null,
  sealed_key sealed_text not null,
  issuer text not null,
  fingerprint text not null,
  not_before timestamptz not null,
  not_after timestamptz not null,
  uploaded_at timestamptz not null
);

-- A certificate belongs to one name.
create function delete_certificate_of_former_name() returns trigger language plpgsql as $$
begin
  delete from uploaded_certificate where custom_domain_id = new.id;
  return new;
end $$;

create trigger custom_domain_renamed after update of domain on custom_domain
  for each row when (old.domain <> new.domain) execute function delete_certificate_of_former_name();
