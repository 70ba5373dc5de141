-- The root of the authority of this installation, in PEM format. Null for authorities elsewhere.
alter table acme_account add column root text;
