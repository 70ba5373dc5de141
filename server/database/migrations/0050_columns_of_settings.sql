-- The settings of a kind are JSON, and kinds store the same thing at different places of it. Queries that choose, join or
-- compare by settings read these columns instead. PostgreSQL computes them only when the settings are written.
-- Adding them rewrites both tables once. Values of another type than the contract's become null, so that no row stops this.

create function auto_deploy_of(settings jsonb) returns boolean language sql immutable parallel safe
  return coalesce(coalesce(settings -> 'auto_deploy', settings #> '{auto_deploy_config,auto_deploy}') = 'true', false);

create function image_name_of(settings jsonb) returns text language sql immutable parallel safe
  return coalesce(settings #>> '{source,image,image_name}', settings ->> 'image_name');

create function job_type_of(settings jsonb) returns text language sql immutable parallel safe
  return case when jsonb_typeof(settings -> 'schedule') = 'object' then
    case when jsonb_typeof(settings #> '{schedule,cronjob}') = 'object' then 'CRON' else 'LIFECYCLE' end end;

create function number_of(value jsonb) returns double precision language sql immutable parallel safe
  return case when jsonb_typeof(value) = 'number' then value::double precision end;

-- Every address of a repository. A chart also has that of its values.
create function repository_urls_of(settings jsonb) returns text[] language sql immutable parallel safe
  return array_remove(array[
    settings #>> '{git_repository,url}',
    settings #>> '{source,docker,git_repository,url}',
    settings #>> '{source,git_repository,url}',
    settings #>> '{values_override,file,git,git_repository,url}',
    settings #>> '{terraform_files_source,git_repository,url}'], null);

create function branch_of(settings jsonb) returns text language sql immutable parallel safe
  return coalesce(settings #>> '{git_repository,branch}', settings #>> '{source,docker,git_repository,branch}',
    settings #>> '{source,git_repository,branch}', settings #>> '{terraform_files_source,git_repository,branch}');

create function version_of(settings jsonb) returns text language sql immutable parallel safe
  return coalesce(settings ->> 'tag', settings ->> 'version', settings #>> '{source,image,tag}',
    settings #>> '{source,helm_repository,chart_version}');

alter table service
  add column accessibility text generated always as (settings ->> 'accessibility') stored,
  add column auto_deploy boolean generated always as (auto_deploy_of(settings)) stored,
  add column database_type text generated always as (settings ->> 'type') stored,
  add column image_name text generated always as (image_name_of(settings)) stored,
  add column job_type text generated always as (job_type_of(settings)) stored,
  add column layer_limit_gib double precision
    generated always as (nullif(number_of(settings -> 'ephemeral_storage_in_gib'), 0)) stored,
  add column repository_urls text[] generated always as (repository_urls_of(settings)) stored,
  add column run_ttl_seconds double precision
    generated always as (number_of(advanced_settings -> 'job.delete_ttl_seconds_after_finished')) stored,
  add column source_branch text generated always as (branch_of(settings)) stored,
  add column source_version text generated always as (version_of(settings)) stored;

alter table release
  add column min_running_instances integer generated always as (number_of(settings -> 'min_running_instances')) stored,
  add column max_running_instances integer generated always as (number_of(settings -> 'max_running_instances')) stored,
  add column repository_url text generated always as (
    coalesce(settings #>> '{git_repository,url}', settings #>> '{source,docker,git_repository,url}')) stored;
