-- What a reading found out about the selected groups if the directory withholds some of them: the others with their names,
-- and those. `read_groups` is null then, so a process of the version before reads the directory again: it would release the
-- withheld ones.
alter table directory_sync_runs add column read_in_part jsonb;
