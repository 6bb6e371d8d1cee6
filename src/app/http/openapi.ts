import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Access } from './access.ts';
import { errorBodyView } from './refusal.ts';
import type { AnyRoute, RouteGroup } from './route.ts';
import { version } from '../../platform/version.ts';

/**
 * The reference page loads only from its own origin and must work over plain HTTP, where `upgrade-insecure-requests` would
 * leave it blank. Its style sheet draws arrows with `data:` images.
 */
const REFERENCE_POLICY = {
  'default-src': ["'none'"],
  'base-uri': ["'none'"],
  'connect-src': ["'self'"],
  'font-src': ["'self'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
};

/** Serves the OpenAPI 3.1 document of the declared routes at `/openapi.json`, and a browsable reference at `/docs`. */
export async function describeApi(app: FastifyInstance, groups: readonly RouteGroup<never>[]): Promise<void> {
  const document = openApiDocument(groups);
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: REFERENCE_POLICY });
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => reply.send(document));
}

/** Paths are generated on first read, so that they do not slow down the start. */
export function openApiDocument(groups: readonly RouteGroup<never>[]): object {
  let paths: ReturnType<typeof pathsOf> | undefined;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Castellan',
      version,
      description:
        'Security administration, authentication, enrollment and provisioning. Times are RFC 3339 in UTC. Errors have the body `Error`: `code` names the cause, `fields` every wrong field; 429 and 503 say in `Retry-After` when to repeat the request, in seconds.',
    },
    tags: [...new Set(groups.map(({ area }) => area))].map((name) => ({ name })),
    get paths() {
      return (paths ??= pathsOf(groups));
    },
    components: {
      schemas: { Error: jsonSchema(errorBodyView, 'output') },
      securitySchemes: {
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
        deviceCertificate: {
          type: 'mutualTLS',
          description: 'Client certificate that the device got when it enrolled',
        },
      },
    },
  };
}

function pathsOf(groups: readonly RouteGroup<never>[]) {
  const paths: Record<string, Record<string, object>> = {};
  for (const { area, routes } of groups) {
    for (const declared of routes) {
      (paths[declared.path] ??= {})[declared.method.toLowerCase()] = operation(area, declared);
    }
  }
  return paths;
}

function operation(area: string, declared: AnyRoute<never>): object {
  const { summary, description, access, params, query, body, response, consumes = 'json' } = declared;
  const status = String(declared.status ?? (response ? 200 : 204));
  const media =
    consumes === 'multipart'
      ? 'multipart/form-data'
      : consumes === 'form'
        ? 'application/x-www-form-urlencoded'
        : 'application/json';
  return {
    tags: [area],
    summary,
    ...(description ? { description } : {}),
    operationId: `${declared.method.toLowerCase()}${declared.path.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    security: securityOf(access),
    ...(access.kind === 'admin' ? { 'x-permission': access.permission } : {}),
    parameters: [
      ...parametersOf('path', declared.path, params),
      ...parametersOf('query', '', query),
      ...reauthenticationHeader(access),
      ...conditionHeader(declared),
    ],
    ...(body
      ? {
          requestBody: {
            required: !body.safeParse(undefined).success && !body.safeParse({}).success,
            content: {
              [media]: { schema: jsonSchema(body, 'input') },
              ...(consumes === 'json-or-form'
                ? { 'application/x-www-form-urlencoded': { schema: jsonSchema(body, 'input') } }
                : {}),
            },
          },
        }
      : {}),
    responses: {
      [status]: responseOf(response),
      ...(asksForReauthentication(access) ? { 403: REAUTHENTICATION_REQUIRED } : {}),
      default: {
        description: 'Error: `error` says what is wrong, and which field or header is affected',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function responseOf(response: AnyRoute<never>['response']): object {
  if (!response) return { description: 'Success' };
  if ('media' in response) return { description: 'Success', content: { [response.media]: {} } };
  return { description: 'Success', content: { 'application/json': { schema: jsonSchema(response, 'output') } } };
}

function securityOf(access: Access): object[] {
  if (access.kind === 'open') return [];
  if (access.kind === 'admin' && access.reauthWhere) return [{ adminToken: [] }, { adminToken: [], reAuthToken: [] }];
  if (access.kind === 'admin') return [access.reauth ? { adminToken: [], reAuthToken: [] } : { adminToken: [] }];
  if (access.kind === 'device') return [{ deviceCertificate: [] }];
  return [access.reauth ? { orgToken: [], reAuthToken: [] } : { orgToken: [] }];
}

const asksForReauthentication = (access: Access): boolean =>
  (access.kind === 'admin' || access.kind === 'org') &&
  (Boolean(access.reauth) || (access.kind === 'admin' && access.reauthWhere !== undefined));

const REAUTHENTICATION_REQUIRED = {
  description:
    'The role lacks the permission, or `re-authentication required`: get a token from the `verify-password` route of the same interface and repeat the request with it in `X-ReAuth-Token`',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

/** OP-346. */
function conditionHeader({ method, tagged }: AnyRoute<never>): object[] {
  if (!tagged || method === 'POST') return [];
  const isRead = method === 'GET';
  return [
    {
      name: isRead ? 'If-None-Match' : 'If-Match',
      in: 'header',
      required: false,
      description: isRead ? 'An `ETag`: 304 if it is still current' : 'An `ETag`: 412 if the state has changed since',
      schema: { type: 'string' },
    },
  ];
}

/** Also in `security`. Only a parameter can describe when the header is required. */
function reauthenticationHeader(access: Access): object[] {
  if (!asksForReauthentication(access)) return [];
  const where = access.kind === 'admin' ? access.reauthWhere : undefined;
  const lifetime =
    access.kind === 'org'
      ? 'For one request, valid for 300 seconds in this session'
      : 'Reusable, valid for 300 seconds in this session';
  return [
    {
      name: 'X-ReAuth-Token',
      in: 'header',
      required: where === undefined,
      description: `A re-authentication token. ${lifetime}. ${where === undefined ? 'Always required.' : `Required if ${where}.`}`,
      schema: { type: 'string' },
    },
  ];
}

function parametersOf(place: 'path' | 'query', path: string, schema: z.ZodType | undefined): object[] {
  const described = schema
    ? (jsonSchema(schema, 'input') as { properties?: Record<string, object>; required?: string[] })
    : {};
  const properties = described.properties ?? {};
  const names = place === 'path' ? [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!) : Object.keys(properties);
  return names.map((name) => ({
    name,
    in: place,
    required: place === 'path' || (described.required ?? []).includes(name),
    schema: properties[name] ?? { type: 'string' },
  }));
}

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): object => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  return described;
};
