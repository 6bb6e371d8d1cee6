import { z } from 'zod';
import { changeOrgBaseUrl } from '../../../../../commands/organizations/change-org-base-url.ts';
import { changeBaseUrl } from '../../../../../commands/tenants/change-base-url.ts';
import { getOrganization } from '../../../../../queries/organizations/get-organization.ts';
import { getTenant } from '../../../../../queries/tenants/get-tenant.ts';
import {
  extensionAddress,
  type ExtensionAddressSettings,
} from '../../../../contexts/enrollment/domain/extension-address.ts';
import {
  OIDC_CALLBACK,
  ORG_OIDC_CALLBACK,
  SAML_CALLBACK,
  samlEntityId,
} from '../../../../contexts/sso/domain/addresses.ts';
import { baseUrlField } from '../../../../contexts/tenants/domain/base-url.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated, orgOwnerReauthenticated, orgReader } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface BaseUrlRouteDependencies {
  readonly config: ExtensionAddressSettings;
}

const route = routeWith<BaseUrlRouteDependencies>();

const path = '/api/v1/admin/settings/external-base-url';
const orgPath = '/api/v1/org/external-base-url';
const body = z.object({ externalBaseUrl: baseUrlField });
const tagged = ({ externalBaseUrl }: { externalBaseUrl: string }) => ({ externalBaseUrl });

const view = z
  .object({
    externalBaseUrl: z.string(),
    /** For devices that enroll from now on. */
    apiEndpoint: z.string(),
    oidcRedirectUri: z.string(),
    samlEntityId: z.string(),
    samlAcsUrl: z.string(),
  })
  .meta({ title: 'ExternalBaseUrl' });

const viewOf = (config: ExtensionAddressSettings, tenantId: TenantId, externalBaseUrl: string) => ({
  externalBaseUrl,
  apiEndpoint: extensionAddress(config, externalBaseUrl),
  oidcRedirectUri: externalBaseUrl + OIDC_CALLBACK,
  samlEntityId: samlEntityId(externalBaseUrl, tenantId),
  samlAcsUrl: externalBaseUrl + SAML_CALLBACK,
});

const orgView = z
  .object({ externalBaseUrl: z.string(), oidcRedirectUri: z.string() })
  .meta({ title: 'OrganizationBaseUrl' });
const orgViewOf = (externalBaseUrl: string) => ({
  externalBaseUrl,
  oidcRedirectUri: externalBaseUrl + ORG_OIDC_CALLBACK,
});

/** The URL at which browsers reach the service, and the addresses that follow from it (OP-340). */
export const baseUrlRoutes: RouteGroup<BaseUrlRouteDependencies> = {
  area: 'settings',
  routes: [
    route({
      method: 'GET',
      path,
      access: admin('settings:read'),
      summary: 'Get the external URL and the addresses that follow from it',
      response: view,
      tagged,
      handle: async ({ ask, services: { config }, principal: { tenantId } }) =>
        viewOf(config, tenantId, (await ask(getTenant, undefined)).external_base_url),
    }),
    route({
      method: 'PUT',
      path,
      access: adminReauthenticated('base-url:write'),
      summary: 'Change the external URL',
      description:
        'Enter the returned redirect URI, entity id and ACS URL at the identity providers: sign-ins that began before fail, and new ones use the new addresses at once. Raises an alert.',
      body,
      response: view,
      tagged,
      handle: async ({ run, body: { externalBaseUrl }, services: { config }, principal: { tenantId } }) => {
        await run(changeBaseUrl, { externalBaseUrl });
        return viewOf(config, tenantId, externalBaseUrl);
      },
    }),
    route({
      method: 'GET',
      path: orgPath,
      access: orgReader,
      summary: 'Get the external URL of the organization',
      response: orgView,
      tagged,
      handle: async ({ ask }) => orgViewOf((await ask(getOrganization, undefined)).external_base_url),
    }),
    route({
      method: 'PUT',
      path: orgPath,
      access: orgOwnerReauthenticated,
      summary: 'Change the external URL of the organization',
      description:
        'Enter the returned redirect URI at the identity provider. Its host finds the organization at sign-in.',
      body,
      response: orgView,
      tagged,
      handle: async ({ run, body: { externalBaseUrl } }) => {
        await run(changeOrgBaseUrl, { externalBaseUrl });
        return orgViewOf(externalBaseUrl);
      },
    }),
  ],
};
