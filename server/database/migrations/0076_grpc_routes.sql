-- Whether the endpoints of a route speak HTTP/2 without TLS, as gRPC does.
alter table route add column speaks_http2 boolean not null default false;
