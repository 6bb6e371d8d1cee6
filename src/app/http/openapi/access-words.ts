import { permissionTable } from '../../../contexts/identity/domain/permissions.ts';
import type { Access } from '../access.ts';

/** The ways to authenticate, and who may call a route, as its access profile says it. */
export const securitySchemes = {
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Access token of a tenant admin, from the routes below `/api/v1/auth`',
  },
  orgToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Access token of an organization admin, from the routes below `/api/v1/org/auth`',
  },
  reAuthToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-ReAuth-Token',
    description: 'Re-authentication token, from the `verify-password` route of the same interface',
  },
  scimToken: {
    type: 'oauth2',
    description: 'Access token of a SCIM client, which lives for an hour',
    flows: {
      clientCredentials: {
        tokenUrl: '/oauth/token',
        scopes: { 'scim:read': 'Read people and groups', 'scim:write': 'Change people and groups' },
      },
    },
  },
  deviceCertificate: {
    type: 'mutualTLS',
    description: 'Client certificate that the device got when it enrolled',
  },
  agentKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Access-Key',
    description: 'Access key that an agent got when it enrolled by itself',
  },
} as const;

export function securityOf(access: Access): object[] {
  switch (access.kind) {
    case 'open':
      return [];
    case 'admin':
      if (access.reauthWhere) return [{ adminToken: [] }, { adminToken: [], reAuthToken: [] }];
      return [access.reauth ? { adminToken: [], reAuthToken: [] } : { adminToken: [] }];
    case 'org':
      return [access.reauth ? { orgToken: [], reAuthToken: [] } : { orgToken: [] }];
    case 'device':
      return [{ deviceCertificate: [] }, ...(access.orAgentKey ? [{ agentKey: [] }] : [])];
    case 'scim':
      return [{ scimToken: [access.scope] }];
  }
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

/** The last paragraph of every description. */
export function accessInWords(access: Access): string {
  switch (access.kind) {
    case 'open':
      return 'Needs no access token.';
    case 'admin':
      return `Needs the permission \`${access.permission}\`: ${listed(permissionTable[access.permission])}.${
        access.unlicensed ? ' Also served after the license expired.' : ''
      }`;
    case 'org':
      return access.roles === 'any'
        ? 'For every admin of an organization.'
        : `For admins of an organization: ${listed(access.roles)}.`;
    case 'device':
      return access.orAgentKey
        ? "Over TLS, with the device's certificate, or with the access key of an agent that enrolled by itself."
        : "Over TLS, with the device's certificate.";
    case 'scim':
      return `For SCIM clients with the scope \`${access.scope}\`.`;
  }
}

export const needsReauthentication = (access: Access): boolean =>
  (access.kind === 'admin' || access.kind === 'org') &&
  (Boolean(access.reauth) || (access.kind === 'admin' && access.reauthWhere !== undefined));
