import { z } from 'zod';
import type { ExtensionChangeRow } from '../../projections/extensions/extension-changes.ts';
import { extensionChangeKinds } from '../../src/contexts/telemetry/domain/vocabulary.ts';
import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import { ascending, descending, listPage, orderBy, type KeysetOrder } from '../keyset.ts';

/** A change of an extension in one browser (choices OP-158, OP-164). */
export const extensionChangeView = z
  .object({
    id: z.uuid(),
    extensionId: z.string(),
    name: z.string().nullable(),
    change: z.enum(extensionChangeKinds),
    version: z.string().nullable(),
    /** The permissions after the change, if the browser reported them. */
    permissions: z.array(z.string()).nullable(),
    deviceId: z.uuid(),
    userId: z.uuid(),
    userEmail: z.string().nullable(),
    occurredAt: z.iso.datetime(),
    receivedAt: z.iso.datetime(),
  })
  .meta({ title: 'ExtensionEvent' });
type ExtensionChangeView = z.output<typeof extensionChangeView>;

export interface ExtensionChangeFilter {
  readonly extensionId?: string | undefined;
  readonly change?: (typeof extensionChangeKinds)[number] | undefined;
  readonly deviceId?: string | undefined;
  readonly userId?: string | undefined;
  /** Inclusive, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const FILTER = `
   where c.tenant_id = $1
     and ($2::text is null or c.extension_id = $2)
     and ($3::text is null or c.change = $3)
     and ($4::uuid is null or c.device_id = $4)
     and ($5::uuid is null or c.user_id = $5)
     and ($6::timestamptz is null or c.occurred_at >= $6)
     and ($7::timestamptz is null or c.occurred_at <= $7)`;
const MAX_COUNTED = 10_000;
const COUNT = `select count(*)::int as total from (select from extension_changes c ${FILTER} limit ${MAX_COUNTED}) counted`;

type NamedRow = ExtensionChangeRow & { readonly user_email: string | null };

export const extensionChangeOrder: KeysetOrder<NamedRow> = {
  list: 'extension-events',
  columns: [
    descending('c.occurred_at', 'timestamptz'),
    ascending('c.event_id', 'uuid'),
    ascending('c.device_id', 'uuid'),
  ],
  valuesOf: ({ occurred_at, event_id, device_id }) => [occurred_at, event_id, device_id],
};

const pageOf = (where: string, tail: string) => `
  with page as (select * from extension_changes c ${FILTER} ${where} ${tail})
  select c.*, e.email as user_email
    from page c left join employees e on e.tenant_id = $1 and e.user_id = c.user_id
   ${orderBy(extensionChangeOrder)}`;

/** Latest first. The total is exact below 10,000, as in the event viewer. */
export const listExtensionChanges: Query<
  ExtensionChangeFilter & Page,
  { events: ExtensionChangeView[] } & KeysetPaginated
> = async (reads, input) => {
  const { extensionId = null, change = null, deviceId = null, userId = null, from = null, to = null } = input;
  const { rows, ...pages } = await listPage(
    reads,
    { order: extensionChangeOrder, count: COUNT, counted: MAX_COUNTED, page: ({ where, tail }) => pageOf(where, tail) },
    [extensionId, change, deviceId, userId, from, to],
    input,
  );
  return { events: rows.map(viewOf), ...pages };
};

const viewOf = (row: NamedRow): ExtensionChangeView => ({
  id: row.event_id,
  extensionId: row.extension_id,
  name: row.name,
  change: row.change,
  version: row.version,
  permissions: row.permissions === null ? null : [...row.permissions],
  deviceId: row.device_id,
  userId: row.user_id,
  userEmail: row.user_email,
  occurredAt: row.occurred_at,
  receivedAt: row.received_at,
});
