import type pg from 'pg';
import { maintenanceQuery } from '../../../platform/database/time-limits.ts';
import { asTenantId, type TenantId } from '../../../platform/kernel/ids.ts';
import type { RecordType } from '../domain/vocabulary.ts';

const TIME_LIMIT_MS = 15_000;

/** A destination as the read model shows it, for the process that forwards. */
export interface ListedDestination {
  readonly tenantId: TenantId;
  readonly destinationId: string;
  readonly isEnabled: boolean;
  readonly eventTypes: readonly RecordType[];
  readonly contentRevision: number;
  readonly backfill: ListedBackfill | undefined;
}

export interface ListedBackfill {
  readonly backfillId: string;
  readonly from: number;
  /** Infinity: until the request. */
  readonly to: number;
  readonly revision: number;
}

interface Row {
  readonly tenant_id: string;
  readonly destination_id: string;
  readonly is_enabled: boolean;
  readonly event_types: readonly RecordType[];
  readonly content_revision: number;
  readonly backfill_id: string | null;
  readonly backfill_from: string | null;
  readonly backfill_to: string | null;
  readonly backfill_revision: number | null;
}

/** Destinations of all tenants. */
export async function listedDestinations(projector: pg.Pool): Promise<ListedDestination[]> {
  const { rows } = await maintenanceQuery<Row>(
    projector,
    TIME_LIMIT_MS,
    `select tenant_id, destination_id, is_enabled, event_types, content_revision,
            backfill_id, backfill_from, backfill_to, backfill_revision
       from log_destinations`,
  );
  return rows.map((row) => ({
    tenantId: asTenantId(row.tenant_id),
    destinationId: row.destination_id,
    isEnabled: row.is_enabled,
    eventTypes: row.event_types,
    contentRevision: row.content_revision,
    backfill:
      row.backfill_id === null
        ? undefined
        : {
            backfillId: row.backfill_id,
            from: Date.parse(row.backfill_from!),
            to: row.backfill_to === null ? Number.POSITIVE_INFINITY : Date.parse(row.backfill_to),
            revision: row.backfill_revision!,
          },
  }));
}

/**
 * The newest position in a tenant's audit log before a moment: no event of the tenant at or after that moment is
 * before it. 0 if there is none.
 */
export async function positionBefore(projector: pg.Pool, tenantId: TenantId, moment: number): Promise<bigint> {
  const { rows } = await projector.query<{ position: string | null }>(
    `select max(position)::text as position from audit_log where tenant_id = $1 and position > 0 and recorded_at < $2`,
    [tenantId, new Date(moment).toISOString()],
  );
  return BigInt(rows[0]?.position ?? 0);
}
