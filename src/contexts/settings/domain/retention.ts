import type { License } from '../../tenants/domain/license.ts';

/** Windows in days (choice OP-121). */
export interface Retention {
  readonly eventRetentionDays: number;
  readonly streamRetentionDays: number;
  readonly maxEventRetentionDays: number;
  readonly maxStreamRetentionDays: number;
  /** The date from which these limits apply: the license's issue date. */
  readonly updatedAt: string;
}

/** The operator's settings, limited by the tenant's license. */
export function retentionUnder(
  license: License,
  set: { readonly eventRetentionDays: number; readonly streamRetentionDays: number },
): Retention {
  const { maxEventRetentionDays, maxStreamRetentionDays, issuedAt } = license;
  return {
    eventRetentionDays: Math.min(set.eventRetentionDays, maxEventRetentionDays),
    streamRetentionDays: Math.min(set.streamRetentionDays, maxStreamRetentionDays),
    maxEventRetentionDays,
    maxStreamRetentionDays,
    updatedAt: issuedAt,
  };
}
