import { z } from 'zod';
import { changeScimClient } from '../../../../../commands/scim/change-scim-client.ts';
import { createScimClient } from '../../../../../commands/scim/create-scim-client.ts';
import { deleteScimClient } from '../../../../../commands/scim/delete-scim-client.ts';
import { issueScimSecret } from '../../../../../commands/scim/issue-scim-secret.ts';
import { removeScimSecret } from '../../../../../commands/scim/remove-scim-secret.ts';
import {
  listScimClients,
  scimClient,
  scimClientView,
  viewOfNewScimClient,
} from '../../../../../queries/scim/list-scim-clients.ts';
import type { ScimTokens } from '../../../../contexts/scim/access-tokens.ts';
import { scimProfiles, scimScopes } from '../../../../contexts/scim/domain/client-events.ts';
import { readClientName } from '../../../../contexts/scim/domain/client-names.ts';
import { digestOfClientSecret, newClientSecret } from '../../../../contexts/scim/domain/clients.ts';
import { FailureError, notFound } from '../../../../platform/kernel/failure.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { instantField } from '../../list-query.ts';
import { foreseeExpired } from '../../present-time.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

export interface ScimClientsRouteDependencies {
  readonly scimTokens: ScimTokens;
}

const route = routeWith<ScimClientsRouteDependencies>();

const base = '/api/v1/admin/scim/clients';
const params = z.object({ clientID: z.string().max(100) });
const scopes = z.array(z.enum(scimScopes)).min(1).max(scimScopes.length);
const profile = z.enum(scimProfiles);
const expiresAt = instantField.nullable().default(null);
const secretView = z.object({
  id: z.uuid(),
  clientSecret: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
});

/** A client of another tenant is not found. */
function idOf(clientId: string, tenantId: TenantId): string {
  const named = readClientName(clientId);
  if (named?.tenantId !== tenantId) throw new FailureError(notFound());
  return named.id;
}

/** OP-220: identity providers that provision people and groups over SCIM. */
export const scimClientRoutes: RouteGroup<ScimClientsRouteDependencies> = {
  area: 'scim-clients',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('scim-clients:read'),
      summary: 'List SCIM clients',
      description:
        'Returns all of them, newest first, without their secrets. `lastUsedAt` is exact to the minute. `lastRefusedAt` and `lastRefusal` say when and why a secret of the client was last refused, as the audit log has it (`scim_client.refused`): once an hour for each reason.',
      response: z.object({ clients: z.array(scimClientView), total: z.int() }),
      handle: async ({ ask, services, principal: { tenantId } }) =>
        ask(listScimClients, { now: Date.now(), lastUses: await services.scimTokens.lastUses(tenantId) }),
    }),
    route({
      method: 'POST',
      path: base,
      access: adminReauthenticated('scim-clients:write'),
      summary: 'Create a SCIM client',
      refuses: ['limit_reached'],
      description:
        'The response contains `clientSecret`, once. `clientId` names the client everywhere: in token requests, and as `clientID` in the paths here. `id` is the same client in the audit log. `profile` names the product whose habits are forgiven. A provider that cannot request tokens gets `<clientId>.<clientSecret>` as its token. At most 50 clients.',
      body: z.object({
        name: nameField(),
        scopes: scopes.default(['scim:read', 'scim:write']),
        profile: profile.default('generic'),
        expiresAt,
      }),
      foresee: foreseeExpired('expiresAt'),
      status: 201,
      response: scimClientView.extend({ clientSecret: z.string() }),
      handle: async ({ run, created, body, fresh, principal: { tenantId } }) => {
        const id = fresh.id('client');
        const clientSecret = newClientSecret((size) => fresh.bytes('secret', size));
        const now = Date.now();
        const executed = await run(createScimClient, {
          ...body,
          clientId: id,
          secretId: fresh.id('secret'),
          secretDigest: digestOfClientSecret(clientSecret),
        });
        const view = await created(executed, scimClient, { id, now }, viewOfNewScimClient(tenantId, id, now));
        return { ...view, clientSecret };
      },
    }),
    route({
      method: 'PATCH',
      path: `${base}/{clientID}`,
      access: adminReauthenticated('scim-clients:write'),
      summary: 'Change a SCIM client',
      description:
        '`clientID` is the `clientId` of the client, not its `id`. Fields that are left out keep their values; `scopes` replaces all of them. Secrets, people and groups stay. A scope that is taken away ends at once for tokens that have it. One that is added holds at once for `<clientId>.<clientSecret>`, and for issued tokens from the next one on; it raises an alert. `profile` holds from the next request on.',
      params,
      body: z.object({ name: nameField().optional(), profile: profile.optional(), scopes: scopes.optional() }),
      response: scimClientView,
      handle: async ({ run, ask, body, services, principal: { tenantId }, params: { clientID } }) => {
        const id = idOf(clientID, tenantId);
        await run(changeScimClient, { clientId: id, ...body });
        const lastUses = await services.scimTokens.lastUses(tenantId);
        return ask(scimClient, { id, now: Date.now(), lastUsedAt: lastUses.get(id) ?? null });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{clientID}`,
      access: adminReauthenticated('scim-clients:write'),
      summary: 'Delete a SCIM client',
      description:
        '`clientID` is the `clientId` of the client, not its `id`. Its secrets and tokens end at once. People and groups that it provisioned stay.',
      params,
      handle: async ({ run, services, principal: { tenantId }, params: { clientID } }) => {
        const clientId = idOf(clientID, tenantId);
        await run(deleteScimClient, { clientId });
        await services.scimTokens.revokeAll(tenantId, clientId, null);
      },
    }),
    route({
      method: 'POST',
      path: `${base}/{clientID}/secrets`,
      access: adminReauthenticated('scim-clients:write'),
      summary: 'Add a secret to a SCIM client',
      refuses: ['limit_reached'],
      description:
        'The response contains `clientSecret`, once. A client has at most two live secrets (409): switch the identity provider to the new one, then remove the old one.',
      params,
      body: z.object({ expiresAt }).nullish(),
      foresee: foreseeExpired('expiresAt'),
      status: 201,
      response: secretView,
      handle: async ({ run, body, fresh, principal: { tenantId }, params: { clientID } }) => {
        const clientId = idOf(clientID, tenantId);
        const [secretId, clientSecret] = [fresh.id('secret'), newClientSecret((size) => fresh.bytes('secret', size))];
        const { result } = await run(issueScimSecret, {
          clientId,
          secretId,
          secretDigest: digestOfClientSecret(clientSecret),
          expiresAt: body?.expiresAt ?? null,
        });
        return { id: secretId, clientSecret, ...result };
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{clientID}/secrets/{secretID}`,
      access: adminReauthenticated('scim-clients:write'),
      summary: 'Remove a secret of a SCIM client',
      description: 'The tokens that were got with it end at once. A client without secrets gets no tokens.',
      params: params.extend({ secretID: uuid() }),
      handle: async ({ run, services, principal: { tenantId }, params: { clientID, secretID: secretId } }) => {
        const clientId = idOf(clientID, tenantId);
        await run(removeScimSecret, { clientId, secretId });
        await services.scimTokens.revokeAll(tenantId, clientId, secretId);
      },
    }),
  ],
};
