-- A cluster refers to its engine by name. Which engines exist is up to the installation.
alter table cluster drop constraint cluster_engine_check;
