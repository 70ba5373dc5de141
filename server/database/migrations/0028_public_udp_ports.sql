-- What is spoken at a public port: TCP or UDP.
alter table route add column public_protocol text;
update route set public_protocol = 'TCP' where public_port is not null;
