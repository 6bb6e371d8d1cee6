import { byHost, type HostSightings } from '../../src/contexts/discovery/domain/sightings.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import { defineReadModel, id, nullable, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { domain: text, user_id: id, url: text, title: nullable(text), seen_at: timestamp };
export type EndpointPageRow = Row<{ columns: typeof columns }>;

/**
 * The page that represents a host: its shortest address, which reveals least about what a person read there. The page
 * belongs to a person: deleting or erasing the person deletes it, and the next visit sets another.
 */
export const endpointPages = defineReadModel({
  name: 'endpoint_pages',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['domain'],
  indexes: [['user_id'], `using gin (tenant_id, lower(url || ' ' || coalesce(title, '')) gin_trgm_ops)`],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      byHost(observations).flatMap((seen) => {
        const page = bestOf(pagesOf(seen, userId));
        return page
          ? [{ key: { domain: seen.domain }, fold: (row: EndpointPageRow | undefined) => better(row, page) }]
          : [];
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

const pagesOf = ({ domain, observations }: HostSightings, userId: string): EndpointPageRow[] =>
  observations.flatMap((one) => {
    if (one.kind !== 'navigation' || one.url === null || one.url === ERASED || one.title === ERASED) return [];
    return [{ domain, user_id: userId, url: withoutQuery(one.url), title: one.title, seen_at: one.occurredAt }];
  });

/** Query and fragment reveal what the person did. */
const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;

const bestOf = (pages: readonly EndpointPageRow[]): EndpointPageRow | undefined =>
  pages.reduce<EndpointPageRow | undefined>(better, undefined);

/**
 * Prefers the shorter address, then the later visit, then a fixed order. Returns the old row if nothing visible
 * changes.
 */
function better(row: EndpointPageRow | undefined, page: EndpointPageRow): EndpointPageRow {
  if (!row) return page;
  const order =
    row.url.length - page.url.length ||
    compare(page.seen_at, row.seen_at) ||
    compare(page.url, row.url) ||
    compare(page.title ?? '', row.title ?? '') ||
    compare(page.user_id, row.user_id);
  return order > 0 ? page : row;
}
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
