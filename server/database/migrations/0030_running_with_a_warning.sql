-- Every replica runs, and something else keeps the service from being reached: the reason says what.
alter table observation drop constraint observation_state_check;
alter table observation add constraint observation_state_check
  check (state in ('absent', 'running', 'warning', 'starting', 'failing', 'stopped'));
