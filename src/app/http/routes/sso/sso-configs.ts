import { z } from 'zod';
import { createSsoConfig } from '../../../../../commands/sso/create-sso-config.ts';
import { deleteSsoConfig } from '../../../../../commands/sso/delete-sso-config.ts';
import { updateSsoConfig } from '../../../../../commands/sso/update-sso-config.ts';
import { getTenant } from '../../../../../queries/tenants/get-tenant.ts';
import { getSsoConfig, viewOfNewSsoConfig } from '../../../../../queries/sso/get-sso-config.ts';
import { listSsoConfigs } from '../../../../../queries/sso/list-sso-configs.ts';
import { ssoConfigView, type SsoConfigView } from '../../../../../queries/sso/sso-config-view.ts';
import { asTenantId, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { explainedFetch } from '../../../../platform/outbound/explained-fetch.ts';
import { issuerProbeView, probeIssuer } from '../../../../contexts/sso/probe-issuer.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import { probeSaml } from '../../../../contexts/sso/probe-saml.ts';
import {
  admin,
  adminReauthenticated,
  orgManagingTenant,
  orgOwner,
  orgOwnerReauthenticated,
  orgReader,
  type Access,
} from '../../access.ts';
import type { Principal } from '../../principal.ts';
import { routeWith, type AnyRoute, type HandlerContext, type RouteGroup } from '../../route.ts';
import { importedProvider, ssoConfigImport, ssoMetadataRefresh } from './sso-config-import.ts';
import {
  draftOf,
  newSsoConfig,
  refuseInsecure,
  ssoConfigChanges,
  ssoConfigProbe,
  trustOf,
} from './sso-config-bodies.ts';
import type { Config } from '../../../config/config.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../../platform/vault/vault.ts';

export interface SsoConfigsRouteDependencies {
  readonly config: Pick<Config, 'devMode' | 'outboundNetworks'>;
  readonly log: Logger;
  readonly vault: Vault;
}

const route = routeWith<SsoConfigsRouteDependencies>();

/** The same routes exist for the tenant itself and for its organization. This is how they differ. */
interface RouteVariant {
  readonly base: string;
  /** Name of the path parameter, as in the interface. */
  readonly parameter: string;
  readonly tenantParameter: Readonly<Record<string, ReturnType<typeof uuid>>>;
  readonly read: Access;
  readonly probe: Access;
  readonly write: Access;
}

type Ids = Readonly<Record<string, string>>;
interface Asked {
  readonly params?: Ids | undefined;
  readonly principal: Principal | undefined;
}

/** Authentication has checked that a tenant in the path belongs to the caller's organization. */
const tenantOf = ({ params, principal }: Asked): TenantId =>
  params?.['tenantId'] ? asTenantId(params['tenantId']) : principal!.tenantId;

type Call = Pick<HandlerContext<unknown, unknown, unknown>, 'created' | 'ask'>;

/** Complete before the tables have the configuration. */
const createdConfig = (
  { created, ask }: Call,
  executed: Parameters<Call['created']>[0],
  configId: string,
  tenantId: TenantId,
): Promise<SsoConfigView> =>
  created(
    executed,
    getSsoConfig,
    { configId },
    async (events) => {
      const tenant = await ask(getTenant, undefined, tenantId);
      return viewOfNewSsoConfig({ ...tenant, tenant_id: tenantId }, configId, events);
    },
    tenantId,
  );

function ssoConfigRoutesFor({
  base,
  parameter,
  tenantParameter,
  read,
  probe,
  write,
}: RouteVariant): AnyRoute<SsoConfigsRouteDependencies>[] {
  const owner = z.object(tenantParameter);
  const one = { path: `${base}/{${parameter}}`, params: owner.extend({ [parameter]: uuid() }) };
  const configOf = (call: Asked) => ({ tenantId: tenantOf(call), configId: call.params![parameter]! });
  return [
    route({
      method: 'GET',
      path: base,
      access: read,
      summary: "List a tenant's SSO configurations",
      description: 'Without secrets, newest first.',
      params: owner,
      response: z.object({ configs: z.array(ssoConfigView), total: z.int() }),
      handle: async (call) => call.ask(listSsoConfigs, undefined, tenantOf(call as Asked)),
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
      status: 201,
      response: ssoConfigView,
      handle: async (call) => {
        refuseInsecure(call.services, call.body);
        const tenantId = tenantOf(call as Asked);
        const configId = call.fresh.id('sso config');
        const executed = await call.run(createSsoConfig, draftOf(call.body, configId), tenantId);
        return createdConfig(call, executed, configId, tenantId);
      },
    }),
    route({
      method: 'POST',
      path: `${base}/import`,
      access: write,
      summary: 'Import a SAML provider from its metadata',
      description:
        'Give either `metadata` (the XML) or `metadataUrl` (fetched once; with `allowPrivateNetwork` also from networks that the operator listed, with `caCertificate` trusting that authority alone), at most 256 KiB, with `entityId` if it describes several providers. Takes entity id, addresses, all signing certificates and the NameID format from it; fields that are given count instead. Refuses expired metadata. Does not check a signature of the metadata.',
      params: owner,
      body: ssoConfigImport,
      status: 201,
      response: ssoConfigView,
      handle: async (call) => {
        const { metadata, metadataUrl, entityId, allowPrivateNetwork, caCertificate, ...settings } = call.body;
        const provider = await importedProvider(
          { metadata, metadataUrl, entityId, allowPrivateNetwork, caCertificate },
          call.services.config,
        );
        const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
        const body = { protocol: 'saml' as const, ...provider, ...given };
        refuseInsecure(call.services, body);
        const tenantId = tenantOf(call as Asked);
        const configId = call.fresh.id('sso config');
        const executed = await call.run(createSsoConfig, draftOf(body, configId), tenantId);
        return createdConfig(call, executed, configId, tenantId);
      },
    }),
    route({
      ...one,
      path: `${one.path}/metadata`,
      method: 'PUT',
      access: write,
      summary: 'Update a SAML provider from its metadata',
      description:
        'For a change of its keys or addresses: replaces both addresses and all certificates, and keeps everything else. Input as for an import. The metadata must describe the entity id of the configuration (400).',
      body: ssoMetadataRefresh,
      response: ssoConfigView,
      handle: async (call) => {
        const { tenantId, configId } = configOf(call as Asked);
        const stored = await call.ask(getSsoConfig, { configId }, tenantId);
        if (stored.protocol !== 'saml') throw new FailureError(invalid('protocol', 'has no metadata'));
        const { idpEntityId, idpSsoUrl, idpSloUrl, idpCertificate } = await importedProvider(
          { ...call.body, entityId: call.body.entityId ?? stored.idpEntityId },
          call.services.config,
        );
        if (idpEntityId !== stored.idpEntityId)
          throw new FailureError(invalid('entityId', 'is not the entity id of the configuration'));
        const changes = { idpSsoUrl, idpSloUrl, idpCertificate };
        refuseInsecure(call.services, changes);
        await call.run(
          updateSsoConfig,
          { configId, protocol: 'saml', changes, clientSecret: undefined, spSigningKey: undefined },
          tenantId,
        );
        return call.ask(getSsoConfig, { configId }, tenantId);
      },
    }),
    route({
      method: 'POST',
      path: `${base}/test`,
      access: probe,
      summary: 'Test an identity provider',
      description:
        'Fetches the discovery document of an OpenID Connect issuer, or checks the settings of a SAML provider.',
      params: owner,
      body: ssoConfigProbe,
      response: issuerProbeView,
      handle: async ({ body, services }) => {
        if (body.protocol !== 'saml')
          return probeIssuer(body.issuerUrl, explainedFetch(services.config, trustOf(body)));
        refuseInsecure(services, body);
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
        const { tenantId, configId } = configOf(call as Asked);
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
      response: ssoConfigView,
      handle: async (call) => {
        refuseInsecure(call.services, call.body);
        const { tenantId, configId } = configOf(call as Asked);
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
        const { tenantId, configId } = configOf(call as Asked);
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
