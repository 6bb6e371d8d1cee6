import { z } from 'zod';
import { createOrgSsoConfig } from '../../../../../commands/organizations/create-org-sso-config.ts';
import { deleteOrgSsoConfig } from '../../../../../commands/organizations/delete-org-sso-config.ts';
import { setRequireSso } from '../../../../../commands/organizations/set-require-sso.ts';
import { updateOrgSsoConfig } from '../../../../../commands/organizations/update-org-sso-config.ts';
import {
  getOrgSsoConfig,
  viewOfNewOrgSsoConfig,
  organizationAddress,
} from '../../../../../queries/organizations/get-org-sso-config.ts';
import { listOrgSsoConfigs } from '../../../../../queries/organizations/list-org-sso-configs.ts';
import { orgSsoConfigView } from '../../../../../queries/organizations/org-sso-config-view.ts';
import { clientId, DEFAULT_SCOPES, issuerUrl } from '../../../../contexts/sso/domain/fields.ts';
import { boundTrust } from '../../../../contexts/sso/domain/field-rules.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { issuerReach } from '../../../../contexts/sso/issuer-reach.ts';
import { issuerProbeView, probeIssuer } from '../../../../contexts/sso/probe-issuer.ts';
import { orgOwner, orgOwnerReauthenticated, orgReader } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { oidcProbe, oidcSettings, trustOf } from '../sso/sso-config-bodies.ts';
import { judgeChanges, judgeIssuer } from '../sso/sso-config-judge.ts';
import type { Config } from '../../../config/config.ts';
import type { Vault } from '../../../../platform/vault/vault.ts';

export interface OrganizationRouteDependencies {
  readonly config: Pick<Config, 'devMode' | 'outboundNetworks'>;
  readonly vault: Vault;
}

const route = routeWith<OrganizationRouteDependencies>();

const base = '/api/v1/org/sso-configs';
const params = z.object({ configId: uuid() });

/** Only OpenID Connect (choice OP-136). Another protocol is an error of this field, not of the missing others. */
const protocol = z
  .string()
  .refine((text) => text === 'oidc', 'must be oidc')
  .optional();
const newConfig = z.object({ ...oidcSettings, protocol, issuerUrl, clientId }).check(boundTrust);
const changes = z.object({ ...oidcSettings, protocol, issuerUrl: issuerUrl.optional(), clientId: clientId.optional() });

export const organizationRoutes: RouteGroup<OrganizationRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: orgReader,
      summary: "List the organization's SSO configurations",
      description: 'Without secrets. Also returns whether single sign-on is required.',
      response: z.object({ configs: z.array(orgSsoConfigView), total: z.int(), requireSso: z.boolean() }),
      handle: ({ ask }) => ask(listOrgSsoConfigs, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: orgOwnerReauthenticated,
      summary: 'Add an OpenID Connect provider',
      refuses: ['sso_enabled_elsewhere'],
      description: 'Enabled by default, unless another one is enabled.',
      body: newConfig,
      judge: judgeIssuer,
      status: 201,
      response: orgSsoConfigView,
      handle: async ({ run, ask, created, body, principal, fresh }) => {
        const configId = fresh.id('sso config');
        const {
          name = new URL(body.issuerUrl).hostname,
          scopes = DEFAULT_SCOPES,
          emailDomains = [],
          clientSecret = null,
        } = body;
        const { issuerUrl, clientId, isEnabled } = body;
        const executed = await run(createOrgSsoConfig, {
          configId,
          name,
          issuerUrl,
          clientId,
          clientSecret,
          scopes,
          emailDomains,
          isEnabled,
          ...trustOf(body),
        });
        return created(executed, getOrgSsoConfig, { configId }, async (events) => {
          const address = await ask(organizationAddress, undefined);
          return viewOfNewOrgSsoConfig({ ...address, tenant_id: principal.tenantId }, configId, events);
        });
      },
    }),
    route({
      method: 'POST',
      path: `${base}/test`,
      access: orgOwner,
      summary: 'Test an issuer',
      description:
        'Takes what a creation takes, and refuses the fields that a creation refuses; other configurations play no part. Fetches the discovery document, and checks whether sign-ins can use the addresses in it.',
      body: z.object({ ...oidcProbe, protocol }).check(boundTrust),
      judge: judgeIssuer,
      response: issuerProbeView,
      handle: ({ body, services }) => probeIssuer(body.issuerUrl, issuerReach(services.config, trustOf(body))),
    }),
    route({
      method: 'PUT',
      path: `${base}/require`,
      access: orgOwnerReauthenticated,
      summary: 'Require single sign-on of all org admins, or allow passwords again',
      operation: 'requireOrgSso',
      body: z.object({ requireSso: z.boolean() }),
      response: z.object({ requireSso: z.boolean() }),
      handle: async ({ run, body }) => {
        await run(setRequireSso, body);
        return { requireSso: body.requireSso };
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{configId}`,
      access: orgReader,
      summary: 'Get an SSO configuration',
      description: 'Without its secret.',
      params,
      response: orgSsoConfigView,
      handle: ({ ask, params: { configId } }) => ask(getOrgSsoConfig, { configId }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{configId}`,
      access: orgOwnerReauthenticated,
      summary: 'Change an SSO configuration',
      refuses: ['sso_enabled_elsewhere', 'sso_needed', 'secret_required_again'],
      description:
        'Fields that are left out keep their values, including the client secret. A new `issuerUrl` requires `clientSecret` again, or null (400).',
      params,
      body: changes,
      judge: judgeChanges,
      response: orgSsoConfigView,
      handle: async ({ run, ask, params: { configId }, body }) => {
        await run(updateOrgSsoConfig, { ...body, configId });
        return ask(getOrgSsoConfig, { configId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{configId}`,
      access: orgOwnerReauthenticated,
      summary: 'Remove an SSO configuration',
      refuses: ['sso_needed'],
      params,
      handle: async ({ run, params: { configId } }) => {
        await run(deleteOrgSsoConfig, { configId });
      },
    }),
  ],
};
