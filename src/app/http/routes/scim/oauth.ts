import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { baseUrlsNear } from '../../../../../queries/tenants/base-urls.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { ScimTokens } from '../../../../contexts/scim/access-tokens.ts';
import { scimScopes } from '../../../../contexts/scim/domain/client-events.ts';
import { clientNameOf } from '../../../../contexts/scim/domain/client-names.ts';
import {
  authenticateClient,
  credentialsOf,
  grantedScopes,
  OAuthError,
  type AuthenticatedClient,
} from '../../../../contexts/scim/grants.ts';
import { liveScimToken } from '../../../../contexts/scim/live-token.ts';
import { FailureError, notFound } from '../../../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { openAccess } from '../../access.ts';
import { isForm, oauthErrorView, oauthRefusal, sendOAuthError } from '../../oauth-errors.ts';
import { refusedIn } from '../../plugins/refused-scim-clients.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import type { ResponseHead } from '../../response-head.ts';

export interface OAuthRouteDependencies {
  readonly lookups: Lookups;
  readonly scimTokens: ScimTokens;
}

const route = routeWith<OAuthRouteDependencies>();

/** RFC 6749 §3.2: a parameter without a value is an omitted one. A form that repeats one has a list here. */
const parameter = z
  .string()
  .max(2_000)
  .nullish()
  .transform((text) => (text ? text : undefined));
const clientParameters = {
  clientId: parameter,
  clientSecret: parameter,
  client_id: parameter,
  client_secret: parameter,
};
const tokenRequest = z.object({ grantType: parameter, grant_type: parameter, scope: parameter, ...clientParameters });
const aboutToken = z.object({ token: parameter, ...clientParameters });
type ClientParameters = Pick<z.output<typeof aboutToken>, keyof typeof clientParameters>;

/** Sends the errors of the protocol. Others are mapped like those of every route. */
async function answered(reply: ResponseHead, work: () => Promise<unknown>): Promise<unknown> {
  reply.header('cache-control', 'no-store');
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return sendOAuthError(reply, error);
  }
}

const clientOf = (
  request: FastifyRequest,
  body: ClientParameters,
  { lookups }: OAuthRouteDependencies,
): Promise<AuthenticatedClient> =>
  authenticateClient(
    credentialsOf(request.headers.authorization, {
      clientId: body.clientId ?? body.client_id,
      clientSecret: body.clientSecret ?? body.client_secret,
    }),
    lookups,
    refusedIn(request),
  );

function required(token: string | undefined): string {
  if (token === undefined) throw new OAuthError('invalid_request', 'token is required');
  return token;
}

/** No tenant is known here. The host of the request chooses among their addresses, and is never one itself. */
async function issuerFor({ host }: FastifyRequest, ask: HandlerContext<unknown, unknown, unknown>['ask']) {
  // Without the port that a scheme implies, as stored.
  const named = host.toLowerCase().replace(/:(?:80|443)$/, '');
  const [first, second] = await ask(baseUrlsNear, { host: named }, INSTALLATION);
  if (!first || (second && !first.isNamed)) throw new FailureError(notFound());
  return first.url;
}

const refusal = oauthRefusal;

/** OAuth 2.0 client credentials for SCIM (RFC 6749, RFC 7662, RFC 7009, RFC 8414). */
export const oauthRoutes: RouteGroup<OAuthRouteDependencies> = {
  area: 'oauth',
  routes: [
    route({
      method: 'POST',
      path: '/oauth/token',
      access: openAccess('oauth'),
      summary: 'Get an access token for SCIM',
      operation: 'getAccessToken',
      otherwise: { 401: oauthErrorView },
      sends: ['Pragma'],
      description:
        'The grant is `client_credentials`. Takes JSON in camelCase or a form in snake_case; the client authenticates in the body or with HTTP Basic. The response to a form, and every refusal, also have the names of RFC 6749. Without `scope`: all scopes of the client.',
      consumes: 'json-or-form',
      body: tokenRequest,
      response: z.object({
        accessToken: z.string(),
        tokenType: z.literal('Bearer'),
        expiresIn: z.int(),
        scope: z.string(),
        access_token: z.string().optional().describe('In the response to a form, like all names of RFC 6749'),
        token_type: z.literal('Bearer').optional(),
        expires_in: z.int().optional(),
      }),
      refusal,
      refusalView: oauthErrorView,
      handle: ({ request, reply, body, services }) =>
        answered(reply, async () => {
          const grantType = body.grantType ?? body.grant_type;
          if (grantType === undefined)
            throw new OAuthError('invalid_request', `${isForm(request) ? 'grant_type' : 'grantType'} is required`);
          const { tenantId, client, secret } = await clientOf(request, body, services);
          if (grantType !== 'client_credentials')
            throw new OAuthError('unsupported_grant_type', 'the grant has to be client_credentials');
          const scopes = grantedScopes(client, body.scope);
          const { secretId } = secret;
          const { token: accessToken, expiresIn } = await services.scimTokens.issue({
            tenantId,
            clientId: client.clientId,
            secretId,
            scopes,
            endsAt: secret.expiresAt === null ? undefined : Date.parse(secret.expiresAt),
          });
          const scope = scopes.join(' ');
          const standard = { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn };
          const own = { accessToken, tokenType: 'Bearer', expiresIn, scope };
          return isForm(request) ? { ...own, ...standard } : own;
        }),
    }),
    route({
      method: 'POST',
      path: '/oauth/introspect',
      access: openAccess('oauth'),
      summary: 'Get the state of an access token',
      operation: 'introspectToken',
      otherwise: { 401: oauthErrorView },
      sends: ['Pragma'],
      description:
        'RFC 7662. Needs the credentials of the client that got the token: any other token is not active. `exp` counts epoch seconds.',
      consumes: 'json-or-form',
      body: aboutToken,
      response: z.object({
        active: z.boolean(),
        scope: z.string().optional(),
        clientId: z.string().optional(),
        tokenType: z.literal('Bearer').optional(),
        exp: z.int().optional(),
        client_id: z.string().optional(),
        token_type: z.literal('Bearer').optional(),
      }),
      refusal,
      refusalView: oauthErrorView,
      handle: ({ request, reply, body, services }) =>
        answered(reply, async () => {
          const { tenantId, id, client } = await clientOf(request, body, services);
          const live = await liveScimToken(required(body.token), services);
          if (live?.token.tenantId !== tenantId || live.client.clientId !== client.clientId) return { active: false };
          const clientId = clientNameOf({ tenantId, id });
          const standard = isForm(request) ? { client_id: clientId, token_type: 'Bearer' } : {};
          const { scopes, expiresAt: exp } = live.token;
          return { active: true, scope: scopes.join(' '), clientId, tokenType: 'Bearer', exp, ...standard };
        }),
    }),
    route({
      method: 'POST',
      path: '/oauth/revoke',
      access: openAccess('oauth'),
      summary: 'Revoke an access token',
      operation: 'revokeToken',
      otherwise: { 401: oauthErrorView },
      sends: ['Pragma'],
      description: 'RFC 7009. Needs the credentials of a client; 200 also for a token that it does not have.',
      consumes: 'json-or-form',
      body: aboutToken,
      response: z.object({}),
      refusal,
      refusalView: oauthErrorView,
      handle: ({ request, reply, body, services }) =>
        answered(reply, async () => {
          const { tenantId, client } = await clientOf(request, body, services);
          await services.scimTokens.revoke(required(body.token), { tenantId, clientId: client.clientId });
          return {};
        }),
    }),
    route({
      method: 'GET',
      path: '/.well-known/oauth-authorization-server',
      access: openAccess('session'),
      summary: 'Describe the authorization server',
      operation: 'describeAuthorizationServer',
      description:
        'RFC 8414. The addresses begin with the base URL of the tenants: the only one, or that with the host of the request. 404 if there are several and none has this host.',
      response: z.object({ issuer: z.string(), token_endpoint: z.string() }).loose(),
      refusal,
      refusalView: oauthErrorView,
      handle: async ({ request, ask }) => {
        const issuer = await issuerFor(request, ask);
        const methods = ['client_secret_basic', 'client_secret_post'];
        return {
          issuer,
          token_endpoint: `${issuer}/oauth/token`,
          introspection_endpoint: `${issuer}/oauth/introspect`,
          revocation_endpoint: `${issuer}/oauth/revoke`,
          scopes_supported: [...scimScopes],
          response_types_supported: [],
          grant_types_supported: ['client_credentials'],
          token_endpoint_auth_methods_supported: methods,
          introspection_endpoint_auth_methods_supported: methods,
          revocation_endpoint_auth_methods_supported: methods,
        };
      },
    }),
  ],
};
