-- A new version that gets a share of the requests before it gets all of them. It counts only while
-- its request runs.
create table canary (
  service_id uuid primary key references service on delete cascade,
  request_id uuid not null references deployment_request on delete cascade,
  release_id uuid not null references release on delete cascade,
  percent integer not null,
  -- The percentages of all steps, and the limits with which the deployment began.
  steps jsonb not null,
  step_seconds integer not null,
  max_error_percent integer not null,
  -- Whether a person ended the steps.
  is_promoted boolean not null,
  -- Where it answers: a list of addresses and ports.
  endpoints jsonb not null,
  -- The current step, from 0, and when it began.
  step integer not null,
  step_started_at timestamptz not null,
  -- The requests and failures that each router process counted, by its id.
  counts jsonb not null,
  -- Their sums when the step began.
  requests_before bigint not null,
  failed_before bigint not null
);
create index canary_request on canary (request_id);
create index canary_release on canary (release_id);
