-- Each engine has a disk of its own, with its own fetched images and measurements. Former rows are of the engine of this machine.

alter table fetched_image add column engine text not null default 'local';
alter table fetched_image alter column engine drop default;
alter table fetched_image drop constraint fetched_image_pkey, add primary key (engine, reference);

-- At most one row for each engine.
alter table disk_usage add column engine text not null default 'local';
alter table disk_usage alter column engine drop default;
alter table disk_usage drop column is_only, add primary key (engine);

-- Repositories and logs are on this machine: they count for its engine.
alter table organization_disk add column engine text not null default 'local';
alter table organization_disk alter column engine drop default;
alter table organization_disk drop constraint organization_disk_pkey, add primary key (organization_id, engine);
