import type { License } from '../../tenants/domain/license.ts';

/** Windows in days (choice OP-121). */
export interface Retention {
  readonly eventRetentionDays: number;
  readonly streamRetentionDays: number;
  readonly maxEventRetentionDays: number;
  readonly maxStreamRetentionDays: number;
  /** Since when these limits apply: the license's date. */
  readonly updatedAt: string;
}

/** What the operator set, as far as the tenant's license allows it. */
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
