import { z } from 'zod';
import { tiers } from '../../src/contexts/tenants/domain/license.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { TenantRow } from '../../projections/tenants/tenants.ts';

/** OP-053. */
export const licenseView = z.object({
  clientName: z.string(),
  tier: z.enum(tiers),
  maxUsers: z.int(),
  currentUsers: z.int(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  isExpired: z.boolean(),
  features: z.array(z.string()),
});

const SQL = `
  select license, (select count(*)::int from employees e where e.tenant_id = $1) as current_users from tenants where tenant_id = $1`;

export const licenseUsage: Query<{ now: number }, z.output<typeof licenseView>> = async (reads, { now }) => {
  const row = await reads.figures<Pick<TenantRow, 'license'> & { current_users: number }>(SQL);
  if (!row?.license) return notFound();
  const { clientName, tier, maxUsers, issuedAt, expiresAt, features } = row.license;
  const isExpired = Date.parse(expiresAt) <= now;
  return { clientName, tier, maxUsers, currentUsers: row.current_users, issuedAt, expiresAt, isExpired, features };
};
