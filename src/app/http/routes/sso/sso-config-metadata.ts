import { z } from 'zod';
import { createSsoConfig } from '../../../../../commands/sso/create-sso-config.ts';
import { updateSsoConfig } from '../../../../../commands/sso/update-sso-config.ts';
import { getSsoConfig } from '../../../../../queries/sso/get-sso-config.ts';
import { ssoConfigView } from '../../../../../queries/sso/sso-config-view.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import { routeWith, type AnyRoute } from '../../route.ts';
import {
  importedProvider,
  judgeImport,
  refusePlainProvider,
  ssoConfigImport,
  ssoMetadataRefresh,
} from './sso-config-import.ts';
import { draftOf } from './sso-config-bodies.ts';
import {
  configNamedBy,
  createdConfig,
  oneConfig,
  tenantOf,
  type SsoConfigCall,
  type SsoConfigRouteVariant,
  type SsoConfigsRouteDependencies,
} from './sso-config-call.ts';

const route = routeWith<SsoConfigsRouteDependencies>();

/** Configurations of SAML providers from their metadata. */
export function samlMetadataRoutes(variant: SsoConfigRouteVariant): AnyRoute<SsoConfigsRouteDependencies>[] {
  const { base, tenantParameter, write } = variant;
  const owner = z.object(tenantParameter);
  const one = oneConfig(variant);
  return [
    route({
      method: 'POST',
      path: `${base}/import`,
      access: write,
      summary: 'Import a SAML provider from its metadata',
      description:
        'Give either `metadata` (the XML) or `metadataUrl` (fetched once; with `allowPrivateNetwork` also from networks that the operator listed, with `caCertificate` trusting that authority alone), at most 256 KiB, with `entityId` if it describes several providers. Takes entity id, addresses, all signing certificates and the NameID format from it; fields that are given count instead. Refuses expired metadata. Does not check a signature of the metadata.',
      params: owner,
      body: ssoConfigImport,
      judge: judgeImport,
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
        refusePlainProvider({ metadata }, body, call.services.config.devMode);
        const tenantId = tenantOf(call as SsoConfigCall);
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
        'For a change of its keys or addresses: replaces all addresses and certificates, and keeps everything else. Input as for an import. The metadata must describe the entity id of the configuration (400).',
      body: ssoMetadataRefresh,
      judge: judgeImport,
      response: ssoConfigView,
      handle: async (call) => {
        const { tenantId, configId } = configNamedBy(variant, call as SsoConfigCall);
        const stored = await call.ask(getSsoConfig, { configId }, tenantId);
        if (stored.protocol !== 'saml') throw new FailureError(invalid('protocol', 'has no metadata'));
        const { idpEntityId, idpSsoUrl, idpSloUrl, idpSloResponseUrl, idpCertificate } = await importedProvider(
          { ...call.body, entityId: call.body.entityId ?? stored.idpEntityId },
          call.services.config,
        );
        if (idpEntityId !== stored.idpEntityId)
          throw new FailureError(invalid('entityId', 'is not the entity id of the configuration'));
        const changes = { idpSsoUrl, idpSloUrl, idpSloResponseUrl, idpCertificate };
        refusePlainProvider(call.body, changes, call.services.config.devMode);
        await call.run(
          updateSsoConfig,
          { configId, protocol: 'saml', changes, clientSecret: undefined, spSigningKey: undefined },
          tenantId,
        );
        return call.ask(getSsoConfig, { configId }, tenantId);
      },
    }),
  ];
}
