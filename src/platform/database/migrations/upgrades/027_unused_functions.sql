-- Functions that no version calls from which an upgrade is possible. (`append_one` of 013 stays for processes of the version before,
-- while they are replaced one by one.)
drop function append_event(uuid, text, bigint, uuid, text, smallint, json, json);
drop function append_next(bigint, uuid, text, bigint, uuid, text, smallint, json, json);
drop function advance_cursors(json, integer);
