-- Services whose data are being copied; few at any moment. Requests that wait for a copy are found through it.
create index service_copying on service (copying) where copying is not null;
