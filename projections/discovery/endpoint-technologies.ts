import { byHost } from '../../src/domain/discovery/sightings.ts';
import { employeeEvents } from '../../src/domain/employees/events.ts';
import { telemetryEvents } from '../../src/domain/telemetry/events.ts';
import { defineReadModel, id, nullable, text, type Row } from '../../src/kernel/read-model.ts';

const columns = {
  name: text,
  domain: text,
  /** The one person whose browsers reported it; null once several did. */
  user_id: nullable(id),
};
export type EndpointTechnologyRow = Row<{ columns: typeof columns }>;

/**
 * Which hosts run a technology. A row is written once, and once more when a second person's browser reports the same, so that
 * counting hosts is free while visits go on. What only one person reported goes with that person.
 */
export const endpointTechnologies = defineReadModel({
  name: 'endpoint_technologies',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['name', 'domain'],
  indexes: ['(tenant_id, user_id) where user_id is not null'],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      byHost(observations).flatMap(({ domain, observations: there }) => {
        const names = new Set(there.flatMap((one) => (one.kind === 'navigation' ? one.technologies.map(({ name }) => name) : [])));
        return [...names].map((name) => ({
          key: { name, domain },
          fold: (row: EndpointTechnologyRow | undefined) => {
            if (!row) return { name, domain, user_id: userId };
            return row.user_id === null || row.user_id === userId ? row : { ...row, user_id: null };
          },
        }));
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
