-- Statistics of the staging tables are made after each reading, from 300 rows for each step of the finest target. What is
-- planned with them are the numbers of rows, of synchronizations and of groups: a tenth of the usual sample tells these.
alter table directory_sync_people
  alter column tenant_id set statistics 10,
  alter column sync_id set statistics 10,
  alter column external_id set statistics 10,
  alter column member_key set statistics 10,
  alter column person set statistics 0,
  alter column action set statistics 10,
  alter column user_id set statistics 10,
  alter column refusal set statistics 10,
  alter column shown set statistics 10,
  alter column done set statistics 10,
  alter column listed set statistics 10,
  alter column email set statistics 10;
alter table directory_sync_members
  alter column tenant_id set statistics 10,
  alter column sync_id set statistics 10,
  alter column group_id set statistics 10,
  alter column member_key set statistics 10;
