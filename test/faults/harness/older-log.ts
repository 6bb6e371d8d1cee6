import { ANY, EventLog } from '../../fixtures/eventstoredb/event-log.ts';

/** The first part of a log as it was when it ended there: a node that was restored from a backup. */
export function olderLog(log: EventLog, records: number): EventLog {
  const older = new EventLog({ systemEvents: false });
  for (const { stream, created, ...event } of log.all.slice(0, records)) {
    older.now = () => Number(created / 10_000n);
    older.append(stream, ANY, [event]);
  }
  older.now = Date.now;
  return older;
}
