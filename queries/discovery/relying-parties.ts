import { z } from 'zod';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import type { Page, Paginated, Query } from '../../src/platform/kernel/query.ts';
import { numberedPage } from '../numbered-page.ts';
import { authEndpointHost } from './get-auth-endpoint.ts';

/** Choice OP-095. */
export const relyingPartyView = z.object({
  domain: z.string(),
  userCount: z.int(),
  firstSeenAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
});
export type RelyingParty = z.output<typeof relyingPartyView>;

const PARTIES = `
  select relying_party as domain, count(*)::int as "userCount", min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt"
    from relying_parties where tenant_id = $1 and domain = $2 group by relying_party`;
const LIST = { body: PARTIES, order: 'p."lastSeenAt" desc, p.domain' };

/** Relying parties that people signed in to through this host, latest first. */
export const listRelyingParties: Query<
  { authEndpointId: string } & Page,
  { relyingParties: RelyingParty[] } & Paginated
> = async (reads, input) => {
  const host = await authEndpointHost(reads, input);
  if (isFailure(host)) return host;
  const { rows, ...pages } = await numberedPage<RelyingParty>(reads, LIST, [host], input);
  return { relyingParties: rows, ...pages };
};
