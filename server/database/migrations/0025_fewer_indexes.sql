-- What waits is found among what is active, too: few are, of one environment.
drop index deployment_request_waiting;

-- Changes without a number are found by the index of those, numbered ones by their number.
alter table state_change drop constraint state_change_pkey;
