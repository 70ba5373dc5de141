-- Plans of earlier versions have another form, and nothing shows them.
update stack_run set plan = null;
