import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { defineReadModel, id, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';
import { quarterOfObservation } from '../telemetry/telemetry-quarters.ts';

const columns = { quarter: timestamp, domain: text, user_id: id };
export type NewSiteVisitorRow = Row<{ columns: typeof columns }>;

/** The people for whom a host was new, by quarter of an hour. */
export const newSiteVisitors = defineReadModel({
  name: 'new_site_visitors',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['quarter', 'domain', 'user_id'],
  indexes: [['user_id']],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      observations.flatMap((one) => {
        if (one.kind !== 'navigation' || !one.isNewSite || one.domain === null) return [];
        const visitor = { quarter: quarterOfObservation(one), domain: one.domain, user_id: userId };
        return [{ key: visitor, fold: (row: NewSiteVisitorRow | undefined) => row ?? visitor }];
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
