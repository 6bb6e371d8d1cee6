-- People are carried out in the order of their external ids. One mark says how far, instead of one in each row: a row is
-- written once, when the directory lists the person. `done` stays for processes of the version before.
alter table directory_sync_runs add column carried_out_to text collate "C" not null default '';
