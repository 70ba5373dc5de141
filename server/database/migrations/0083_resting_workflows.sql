-- Whether a running workflow only waits, and has left its place among the running ones.
alter table workflow add column is_resting boolean not null default false;
