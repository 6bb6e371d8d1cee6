import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { findOrgSso, findOrgSsoByEmail, type OrgWithSso } from '../../../../../queries/organizations/find-org-sso.ts';
import { emailField } from '../../../../contexts/identity/domain/password-rule.ts';
import { orgAdminAccountClaim } from '../../../../contexts/organizations/domain/organization.ts';
import { streamSubject } from '../../../../platform/kernel/aggregate.ts';
import { INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { pageReturnQuery } from '../../../../contexts/sso/page-return.ts';
import { openAccess } from '../../access.ts';
import { routeWith, type AnyRoute } from '../../route.ts';
import type { WithClaimHolder } from '../../../../../commands/ports.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

export interface OrgSsoDiscoveryDependencies {
  readonly ports: WithClaimHolder;
  accountDigest(email: string): string;
}

const route = routeWith<OrgSsoDiscoveryDependencies>();

export const ORG_SSO = '/api/v1/org/auth/sso';
const name = z.string().trim().toLowerCase().min(1).max(253).optional();
/** `slug` or `host` is required. If both are given, `slug` counts. */
export const organizationQuery = { slug: name, host: name, challenge: pageReturnQuery.challenge };
interface NamedOrganization {
  readonly slug?: string | undefined;
  readonly host?: string | undefined;
}
export const oneNamed = ruleBetween<NamedOrganization>(['slug', 'host'], ({ slug, host }) =>
  (slug ?? host) === undefined ? 'or host is required' : undefined,
);
const namedQuery = z.object(organizationQuery).check(oneNamed);
const availability = z.object({ ssoAvailable: z.boolean(), loginUrl: z.string().nullable() });

/** Milliseconds that every response about an e-mail takes, so that the look-up's duration discloses nothing. */
const DISCOVERY_MS = 25;

/** Choice OP-148. */
const available = (found: OrgWithSso | null) => ({
  ssoAvailable: found !== null,
  loginUrl: found && `${found.external_base_url}${ORG_SSO}/login?slug=${encodeURIComponent(found.slug)}`,
});

/** Whether and where an organization signs in with single sign-on, for a sign-in page. */
export const orgSsoDiscoveryRoutes: readonly AnyRoute<OrgSsoDiscoveryDependencies>[] = [
  route({
    method: 'POST',
    path: `${ORG_SSO}/discover`,
    access: openAccess('org-login'),
    summary: 'Find the identity provider for an e-mail',
    operation: 'discoverSso',
    description:
      'By the domain if an organization has verified it, otherwise by account. Takes the same time for every e-mail.',
    body: z.object({ email: emailField }),
    response: availability,
    handle: async ({ body: { email }, services, ask }) => {
      const find = async () => {
        const stream = await services.ports.claimHolder(
          INSTALLATION,
          orgAdminAccountClaim(services.accountDigest(email)),
        );
        const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
        return ask(findOrgSsoByEmail, { domain, account: stream ? streamSubject(stream) : INSTALLATION }, INSTALLATION);
      };
      const [found] = await Promise.all([find(), pause(DISCOVERY_MS)]);
      return available(found);
    },
  }),
  route({
    method: 'GET',
    path: `${ORG_SSO}/status`,
    access: openAccess('org-login'),
    summary: 'Get whether an organization uses single sign-on',
    description: 'Finds the organization by its slug or the host of its address.',
    query: namedQuery,
    response: availability,
    handle: async ({ query, ask }) => available(await ask(findOrgSso, query, INSTALLATION)),
  }),
];
