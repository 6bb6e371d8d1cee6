import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { DestinationStatus } from './domain/vocabulary.ts';

/** How far a destination, or a range of the past that is sent to it, has come. */
export interface ForwardingState {
  readonly status: Exclude<DestinationStatus, 'paused'>;
  readonly lastDeliveryAt: string | null;
  readonly lastError: string | null;
  /** Events that wait. */
  readonly lagEvents: number;
  /** Since the oldest waiting event was recorded. */
  readonly lagSeconds: number;
  /** Records that were acknowledged. */
  readonly delivered: number;
  /** Only of a range of the past: it was sent to its end. */
  readonly isComplete: boolean;
}

export const NOTHING_FORWARDED: ForwardingState = {
  status: 'unknown',
  lastDeliveryAt: null,
  lastError: null,
  lagEvents: 0,
  lagSeconds: 0,
  delivered: 0,
  isComplete: false,
};

interface Row {
  readonly checkpoint_id: string;
  readonly status: ForwardingState['status'];
  readonly last_delivery_at: string | null;
  readonly last_error: string | null;
  readonly lag_events: number;
  readonly lag_seconds: number;
  readonly delivered: number;
  readonly is_complete: boolean;
}

/** The states of a tenant's destinations, by the ids of destinations and of ranges of the past. */
export async function forwardingStates(
  pool: TenantPool,
  tenantId: TenantId,
): Promise<ReadonlyMap<string, ForwardingState>> {
  const { rows } = await pool.statement<Row>(
    tenantId,
    `select checkpoint_id, status, last_delivery_at, last_error, lag_events, delivered,
            greatest(0, coalesce(extract(epoch from now() - waiting_since), 0))::int as lag_seconds,
            coalesce(position >= until_position, false) as is_complete
       from log_forwarding where tenant_id = $1`,
    [],
  );
  return new Map(
    rows.map((row) => [
      row.checkpoint_id,
      {
        status: row.status,
        lastDeliveryAt: row.last_delivery_at,
        lastError: row.last_error,
        lagEvents: row.lag_events,
        lagSeconds: row.lag_seconds,
        delivered: row.delivered,
        isComplete: row.is_complete,
      },
    ]),
  );
}
