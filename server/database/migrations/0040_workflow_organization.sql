-- The organization whose work it is. Null: the platform's own work, and work from before this column.
alter table workflow add column organization_id uuid;
