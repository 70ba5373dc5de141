-- The server that does the work without a request, of the servers that share this database. `fence`
-- grows with each change of hands.
create table duty (
  name text primary key,
  owner text not null,
  fence bigint not null,
  until timestamptz not null
);
