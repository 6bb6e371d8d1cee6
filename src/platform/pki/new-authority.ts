import { createAuthority, type Authority } from './authority.ts';

/** Choice OP-176. */
const YEARS = 10;

/** The authority that a tenant starts with, so that browsers can enroll before anybody uploads one. `now`: epoch milliseconds. */
export const newAuthority = (tenantName: string, now: number): Authority =>
  createAuthority({ commonName: `${tenantName} Device CA`, organization: tenantName, years: YEARS, now });
