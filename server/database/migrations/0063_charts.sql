-- The labels of the pods of a chart's port, in addition to those of the platform.
alter table route add column pods jsonb;

-- The commit of the repository with the values of a chart. Null: the head of its branch.
alter table deployment_target add column wanted_values text;
