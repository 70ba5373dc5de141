-- A port of this machine that leads to a port of a service through the router: its host then ends with it.
alter table route add column public_port integer;
create unique index route_public_port on route (public_port) where public_port is not null;
