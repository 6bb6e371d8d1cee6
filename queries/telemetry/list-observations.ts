import { z } from 'zod';
import type { ObservationRow, ViewedKind } from '../../projections/telemetry/observations.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';

/** An observation as the event viewer shows it (choice OP-164). */
export const observationView = z
  .object({
    id: z.uuid(),
    kind: z.string(),
    userId: z.uuid(),
    userEmail: z.string().nullable(),
    deviceId: z.uuid(),
    domain: z.string().nullable(),
    url: z.string().nullable(),
    occurredAt: z.iso.datetime(),
    receivedAt: z.iso.datetime(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ title: 'Event' });
export type ObservationView = z.output<typeof observationView>;

export interface ObservationFilter {
  readonly kind: ViewedKind;
  readonly userId?: string | undefined;
  readonly deviceId?: string | undefined;
  /** A host name in ASCII. */
  readonly domain?: string | undefined;
  /** Inclusive, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const FILTER = `
   where o.tenant_id = $1 and o.kind = $2
     and ($3::uuid is null or o.user_id = $3)
     and ($4::uuid is null or o.device_id = $4)
     and ($5::text is null or o.domain = $5)
     and ($6::timestamptz is null or o.occurred_at >= $6)
     and ($7::timestamptz is null or o.occurred_at <= $7)`;
/** Counting stops here, so that a page has bounded cost. Exact figures are in the statistics. */
export const MAX_COUNTED = 10_000;
const COUNT = `select count(*)::int as total from (select from observations o ${FILTER} limit ${MAX_COUNTED}) counted`;

type NamedRow = ObservationRow & { readonly user_email: string | null };

export const observationOrder: KeysetOrder<NamedRow> = {
  list: 'events',
  columns: [
    descending('o.occurred_at', 'timestamptz'),
    ascending('o.event_id', 'uuid'),
    ascending('o.device_id', 'uuid'),
  ],
  valuesOf: ({ occurred_at, event_id, device_id }) => [occurred_at, event_id, device_id],
};

// Select the page first and join names after: the join must not touch other rows.
const pageOf = (where: string, tail: string) => `
  with page as (select * from observations o ${FILTER} ${where} ${tail})
  select o.*, e.email as user_email
    from page o left join employees e on e.tenant_id = $1 and e.user_id = o.user_id
   ${orderBy(observationOrder)}`;

/** Observations of one kind, latest first. The total is exact below `MAX_COUNTED`. */
export const listObservations: Query<
  ObservationFilter & Page,
  { events: ObservationView[] } & KeysetPaginated
> = async (reads, input) => {
  const { kind, userId = null, deviceId = null, domain = null, from = null, to = null } = input;
  const { rows, ...pages } = await listPage(
    reads,
    { order: observationOrder, count: COUNT, counted: MAX_COUNTED, page: ({ where, tail }) => pageOf(where, tail) },
    [kind, userId, deviceId, domain, from, to],
    input,
  );
  return { events: rows.map(viewOf), ...pages };
};

const viewOf = (row: NamedRow): ObservationView => ({
  id: row.event_id,
  kind: row.kind,
  userId: row.user_id,
  userEmail: row.user_email,
  deviceId: row.device_id,
  domain: row.domain,
  url: row.url,
  occurredAt: row.occurred_at,
  receivedAt: row.received_at,
  data: row.data,
});
