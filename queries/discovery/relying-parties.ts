import { z } from 'zod';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { authEndpointHost } from './get-auth-endpoint.ts';

/** Choice OP-095. */
export const relyingPartyView = z.object({
  domain: z.string(),
  userCount: z.int(),
  firstSeenAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
});
export type RelyingParty = z.output<typeof relyingPartyView>;

const MAX_PARTIES = 1_000;
const SQL = `
  select relying_party as domain, count(*)::int as "userCount", min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt", count(*) over ()::int as total
    from relying_parties where tenant_id = $1 and domain = $2
   group by relying_party order by 4 desc, 1 limit ${MAX_PARTIES}`;

/** Relying parties that people signed in to through this host, latest first. */
export const listRelyingParties: Query<
  { authEndpointId: string },
  { relyingParties: RelyingParty[]; total: number }
> = async (reads, input) => {
  const host = await authEndpointHost(reads, input);
  if (isFailure(host)) return host;
  const rows = await reads.rows<RelyingParty & { total: number }>(SQL, [host]);
  return {
    relyingParties: rows.map(({ domain, userCount, firstSeenAt, lastSeenAt }) => ({
      domain,
      userCount,
      firstSeenAt,
      lastSeenAt,
    })),
    total: rows[0]?.total ?? 0,
  };
};
