import { z } from 'zod';
import { methodsOf, identityProviders, type IdentityProvider } from '../../src/contexts/discovery/domain/vocabulary.ts';
import { authMethods } from '../../src/contexts/telemetry/domain/vocabulary.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-094. `mfaAdoptionRate`: 0..1, the share of sign-in hosts with a second factor, overrides included. */
export const authEndpointStatsView = z.object({
  total: z.int(),
  mfaAdoptionRate: z.number(),
  providers: z.array(z.object({ provider: z.enum(identityProviders), count: z.int() })),
  methods: z.array(z.object({ method: z.enum(authMethods), count: z.int() })),
});
export type AuthEndpointStats = z.output<typeof authEndpointStatsView>;

interface Group {
  readonly provider: IdentityProvider;
  readonly mfa_detected: boolean;
  readonly methods: number;
  readonly count: number;
}

/** An index covers these three columns, so the table is not read. */
const GROUPS = `select provider, mfa_detected, methods, count(*)::int as count from auth_endpoints where tenant_id = $1 group by 1, 2, 3`;
const CORRECTED = `
  select (count(*) filter (where o.mfa_override = 'enabled' and not a.mfa_detected))::int as gained,
         (count(*) filter (where o.mfa_override = 'disabled' and a.mfa_detected))::int as lost
    from mfa_overrides o join auth_endpoints a on a.tenant_id = $1 and a.auth_endpoint_id = o.auth_endpoint_id
   where o.tenant_id = $1`;

export const authEndpointStats: Query<void, AuthEndpointStats> = async (reads) => {
  const [groups, corrected] = await Promise.all([
    reads.rows<Group>(GROUPS),
    reads.figures<{ gained: number; lost: number }>(CORRECTED),
  ]);
  const sum = (chosen: (group: Group) => boolean) =>
    groups.filter(chosen).reduce((total, { count }) => total + count, 0);
  const total = sum(() => true);
  const withMfa = sum((group) => group.mfa_detected) + corrected!.gained - corrected!.lost;
  return {
    total,
    mfaAdoptionRate: total === 0 ? 0 : withMfa / total,
    providers: present(
      identityProviders.map((provider) => ({ provider, count: sum((group) => group.provider === provider) })),
    ),
    methods: present(
      authMethods.map((method) => ({ method, count: sum((group) => methodsOf(group.methods).includes(method)) })),
    ),
  };
};

/** Only entries that were seen at all, most frequent first. */
const present = <Counted extends { count: number }>(all: readonly Counted[]): Counted[] =>
  all.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count);
