-- A service whose data are being copied from this one; nothing is done to it meanwhile.
alter table service add column copying uuid;
