import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { day, defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';
import { dayOfObservation } from './user-daily.ts';

const columns = { day, domain: text, user_id: id };
export type NewSiteVisitorRow = Row<{ columns: typeof columns }>;

/** The people for whom a host was new, by day. */
export const newSiteVisitors = defineReadModel({
  name: 'new_site_visitors',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['day', 'domain', 'user_id'],
  indexes: [['user_id']],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      observations.flatMap((one) => {
        if (one.kind !== 'navigation' || !one.isNewSite || one.domain === null) return [];
        const visitor = { day: dayOfObservation(one), domain: one.domain, user_id: userId };
        return [{ key: visitor, fold: (row: NewSiteVisitorRow | undefined) => row ?? visitor }];
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
