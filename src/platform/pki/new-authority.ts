import { createAuthority, type Authority } from './authority.ts';

/** OP-176. */
const YEARS = 10;

/**
 * The initial authority of a tenant, so that browsers can enroll before an administrator uploads one. `now`: epoch
 * milliseconds.
 */
export const newAuthority = (tenantName: string, now: number): Authority =>
  createAuthority({ commonName: `${tenantName} Device CA`, organization: tenantName, years: YEARS, now });
