-- What a plan says of the selected groups, for whoever looks at it before it is carried out.
alter table directory_sync_runs add column planned_groups jsonb not null default '[]';
