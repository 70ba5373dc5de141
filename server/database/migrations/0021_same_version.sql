-- The version that is deployed is asked for again, whatever its branch or tag stands for by now.
alter table deployment_target add column same_version boolean not null default false;
