import { z } from 'zod';
import { createSsoConfig } from '../../../../../commands/sso/create-sso-config.ts';
import { deleteSsoConfig } from '../../../../../commands/sso/delete-sso-config.ts';
import { updateSsoConfig } from '../../../../../commands/sso/update-sso-config.ts';
import { getSsoConfig } from '../../../../../queries/sso/get-sso-config.ts';
import { listSsoConfigs } from '../../../../../queries/sso/list-sso-configs.ts';
import { ssoConfigView } from '../../../../../queries/sso/sso-config-view.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { issuerReach } from '../../../../contexts/sso/issuer-reach.ts';
import { issuerProbeView, probeIssuer } from '../../../../contexts/sso/probe-issuer.ts';
import { probeSaml } from '../../../../contexts/sso/probe-saml.ts';
import {
  admin,
  adminReauthenticated,
  orgManagingTenant,
  orgOwner,
  orgOwnerReauthenticated,
  orgReader,
} from '../../access.ts';
import { routeWith, type AnyRoute, type RouteGroup } from '../../route.ts';
import { draftOf, newSsoConfig, ssoConfigChanges, ssoConfigProbe, trustOf } from './sso-config-bodies.ts';
import {
  configNamedBy,
  createdConfig,
  oneConfig,
  tenantOf,
  type SsoConfigCall,
  type SsoConfigRouteVariant,
  type SsoConfigsRouteDependencies,
} from './sso-config-call.ts';
import { judgeChanges, judgeNewConfig } from './sso-config-judge.ts';
import { samlMetadataRoutes } from './sso-config-metadata.ts';

const route = routeWith<SsoConfigsRouteDependencies>();

function ssoConfigRoutesFor(variant: SsoConfigRouteVariant): AnyRoute<SsoConfigsRouteDependencies>[] {
  const { base, tenantParameter, read, probe, write } = variant;
  const owner = z.object(tenantParameter);
  const one = oneConfig(variant);
  return [
    route({
      method: 'GET',
      path: base,
      access: read,
      summary: "List a tenant's SSO configurations",
      description: 'Without secrets, newest first.',
      params: owner,
      response: z.object({ configs: z.array(ssoConfigView), total: z.int() }),
      handle: async (call) => call.ask(listSsoConfigs, undefined, tenantOf(call as SsoConfigCall)),
    }),
    route({
      method: 'POST',
      path: base,
      access: write,
      summary: 'Add an identity provider',
      refuses: ['sso_enabled_elsewhere'],
      description: 'Enabled by default, unless another one of its protocol is enabled.',
      params: owner,
      body: newSsoConfig,
      judge: judgeNewConfig,
      status: 201,
      response: ssoConfigView,
      handle: async (call) => {
        const tenantId = tenantOf(call as SsoConfigCall);
        const configId = call.fresh.id('sso config');
        const executed = await call.run(createSsoConfig, draftOf(call.body, configId), tenantId);
        return createdConfig(call, executed, configId, tenantId);
      },
    }),
    ...samlMetadataRoutes(variant),
    route({
      method: 'POST',
      path: `${base}/test`,
      access: probe,
      summary: 'Test an identity provider',
      description:
        'Takes what a creation takes, and refuses the fields that a creation refuses; other configurations play no part. Fetches the discovery document of an OpenID Connect issuer, and checks whether sign-ins can use the addresses in it; of a SAML provider, checks the certificates.',
      params: owner,
      body: ssoConfigProbe,
      judge: judgeNewConfig,
      response: issuerProbeView,
      handle: async ({ body, services }) => {
        if (body.protocol !== 'saml') return probeIssuer(body.issuerUrl, issuerReach(services.config, trustOf(body)));
        return probeSaml(body, Date.now());
      },
    }),
    route({
      ...one,
      method: 'GET',
      access: read,
      summary: 'Get an SSO configuration',
      description: 'Without its secrets.',
      response: ssoConfigView,
      handle: async (call) => {
        const { tenantId, configId } = configNamedBy(variant, call as SsoConfigCall);
        return call.ask(getSsoConfig, { configId }, tenantId);
      },
    }),
    route({
      ...one,
      method: 'PUT',
      access: write,
      summary: 'Change an SSO configuration',
      refuses: ['sso_enabled_elsewhere', 'secret_required_again'],
      description:
        'Fields that are left out keep their values, including secrets. A new `issuerUrl` requires `clientSecret` again, or null (400).',
      body: ssoConfigChanges,
      judge: judgeChanges,
      response: ssoConfigView,
      handle: async (call) => {
        const { tenantId, configId } = configNamedBy(variant, call as SsoConfigCall);
        const { protocol, clientSecret, spSigningKey, ...changes } = call.body;
        await call.run(updateSsoConfig, { configId, protocol, changes, clientSecret, spSigningKey }, tenantId);
        return call.ask(getSsoConfig, { configId }, tenantId);
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      access: write,
      summary: 'Remove an SSO configuration',
      handle: async (call) => {
        const { tenantId, configId } = configNamedBy(variant, call as SsoConfigCall);
        await call.run(deleteSsoConfig, { configId }, tenantId);
      },
    }),
  ];
}

export const ssoConfigRoutes: RouteGroup<SsoConfigsRouteDependencies> = {
  area: 'sso-configs',
  routes: ssoConfigRoutesFor({
    base: '/api/v1/admin/sso-configs',
    parameter: 'configID',
    tenantParameter: {},
    read: admin('sso-configs:read'),
    probe: admin('sso-configs:write'),
    write: adminReauthenticated('sso-configs:write'),
  }),
};

/** The same routes for the organization of a tenant. */
export const orgTenantSsoConfigRoutes: RouteGroup<SsoConfigsRouteDependencies> = {
  area: 'org',
  routes: ssoConfigRoutesFor({
    base: '/api/v1/org/tenants/{tenantId}/sso-configs',
    parameter: 'configId',
    tenantParameter: { tenantId: uuid() },
    read: orgManagingTenant(orgReader),
    probe: orgManagingTenant(orgOwner),
    write: orgManagingTenant(orgOwnerReauthenticated),
  }),
};
