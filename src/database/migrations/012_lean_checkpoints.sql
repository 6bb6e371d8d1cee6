-- Checkpoints move in the statement that writes the rows of a page (`src/projector/cursors.ts`): no function is called but where a
-- lease was lost. (`advance_cursors` of 006 stays for processes of the version before, while they are replaced one by one.)

-- What a holder of an older epoch runs into: nothing of its statement, nor of its transaction, commits.
create function lease_lost() returns boolean
language plpgsql
as $$
begin
  raise exception 'the lease on a cursor was lost' using errcode = 'CA001';
end $$;
revoke all on function lease_lost from public;
grant execute on function lease_lost to castellan_projector;

-- PostgreSQL reads the text of a check again for each statement that writes the table, which every page does. `kind` and `state` are
-- written by one file, whose types say what they may be.
alter table cursors drop constraint cursors_kind_check, drop constraint cursors_state_check;
