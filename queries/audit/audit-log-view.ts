import { z } from 'zod';
import { snakeCase } from '../../src/platform/resources/names.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { AuditLogRow } from '../../projections/audit/audit-log.ts';

/** OP-247. */
export const auditRecordView = z
  .object({
    id: z.uuid(),
    sequence: z.int(),
    timestamp: z.iso.datetime(),
    actorId: z.string().nullable(),
    actorEmail: z.string().nullable(),
    actorType: z.enum(['admin', 'org_admin', 'scim', 'device', 'system']),
    action: z.string(),
    resourceType: z.string(),
    resourceId: z.string(),
    details: z.record(z.string(), z.unknown()),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    previousHash: z.string(),
    hash: z.string(),
  })
  .meta({ title: 'AuditRecord' });
export type AuditRecordView = z.output<typeof auditRecordView>;

/** An entry with its actor's current e-mail. The e-mail is stored with the person and erased with them. */
export type AuditLogRowWithNames = AuditLogRow & { readonly actor_email: string | null };

/** The columns of a list, without those that only the chain needs. `$1` is the tenant. */
export const SELECT_AUDIT_LOG = `
  select a.*, coalesce(u.email, o.email) as actor_email
    from audit_log a
    left join admin_users u on u.tenant_id = a.tenant_id and u.admin_id::text = a.actor_id
    left join org_admins o on o.tenant_id = a.tenant_id and o.admin_id::text = a.actor_id`;

export interface AuditLogFilter {
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly resourceType?: string | undefined;
  /** Inclusive, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Parameters `$2` to `$6`, in the order of `filterValues`. Excludes the head row. */
export const AUDIT_LOG_FILTER = `
   where a.tenant_id = $1 and a.position > 0
     and ($2::text is null or a.actor_id = $2)
     and ($3::text is null or a.action = $3)
     and ($4::text[] is null or a.resource_type = any($4))
     and ($5::timestamptz is null or a.recorded_at >= $5)
     and ($6::timestamptz is null or a.recorded_at <= $6)`;

export const filterValues = ({ actorId, action, resourceType, from, to }: AuditLogFilter) => [
  actorId ?? null,
  action ?? null,
  resourceType === undefined ? null : spellings(resourceType),
  from ?? null,
  to ?? null,
];

/**
 * The chain holds the words of the events, `tenantSettings` beside `admin_user`, and cannot change. Responses spell all of
 * them alike (OP-354), and filters accept each spelling.
 */
const spellings = (asked: string): string[] => {
  const uniform = snakeCase(asked);
  return [...new Set([asked, uniform, uniform.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())])];
};

/** Decrypts the sealed values of stored events whose persons' keys still exist. */
export type Reveal = (
  events: readonly { tenantId: TenantId; id: string; type: string; data: unknown }[],
) => Promise<unknown[]>;

/**
 * Personal values in the chain are sealed. They are decrypted for display; values of an erased person show as erased.
 */
export async function auditRecords(
  tenantId: TenantId,
  rows: readonly AuditLogRowWithNames[],
  reveal: Reveal,
): Promise<AuditRecordView[]> {
  const details = await reveal(
    rows.map((row) => ({ tenantId, id: row.event_id!, type: eventTypeOf(row), data: parsed(row.details) })),
  );
  return rows.map((row, index) => auditRecordOf(row, details[index] as Record<string, unknown>));
}

/** The first element of `event` is the type. */
const eventTypeOf = ({ event }: AuditLogRow): string => String((parsed(event) as unknown as readonly unknown[])[0]);

/** A row that was tampered with is still listed; `verify` reports the fault. */
function parsed(text: string | null): Record<string, unknown> {
  try {
    const value = JSON.parse(text ?? 'null') as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { unreadable: text };
  } catch {
    return { unreadable: text };
  }
}

function auditRecordOf(row: AuditLogRowWithNames, details: Record<string, unknown>): AuditRecordView {
  return {
    id: row.event_id!,
    sequence: row.sequence,
    timestamp: row.recorded_at!,
    actorId: row.actor_id,
    actorEmail: row.actor_email,
    actorType: row.actor_type as AuditRecordView['actorType'],
    action: row.action!,
    resourceType: snakeCase(row.resource_type!),
    resourceId: row.resource_id!,
    details,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    previousHash: row.previous_hash!,
    hash: row.hash,
  };
}
