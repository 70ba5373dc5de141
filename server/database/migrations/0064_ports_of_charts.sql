-- The labels of the pods of a chart's port, in addition to those of the platform.
alter table route add column pods jsonb;
