-- The selected groups that a reading found, with their names by id: only these are given the members that were read. Null:
-- read by a process of the version before, which is read again.
alter table directory_sync_runs add column read_groups jsonb;
