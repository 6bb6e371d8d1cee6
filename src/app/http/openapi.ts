import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Access } from './access.ts';
import type { AnyRoute, RouteGroup } from './route.ts';
import { version } from '../../platform/version.ts';

/**
 * The reference page loads nothing from elsewhere, and has to work over plain HTTP under any name: a policy that upgrades requests
 * leaves it blank there. `data:` is what its style sheet draws arrows with.
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

/** The OpenAPI 3.1 document, written from the declared routes, at `/openapi.json`, and a reference to browse at `/docs`. */
export async function describeApi(app: FastifyInstance, groups: readonly RouteGroup<never>[]): Promise<void> {
  const document = openApiDocument(groups);
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: REFERENCE_POLICY });
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => reply.send(document));
}

/** Its paths are written when they are first read: a service that starts need not wait for what few ask for. */
export function openApiDocument(groups: readonly RouteGroup<never>[]): object {
  let paths: ReturnType<typeof pathsOf> | undefined;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Castellan',
      version,
      description: 'Security administration, authentication, enrollment and provisioning',
    },
    tags: [...new Set(groups.map(({ area }) => area))].map((name) => ({ name })),
    get paths() {
      return (paths ??= pathsOf(groups));
    },
    components: {
      schemas: { Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } } },
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        orgToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        reAuthToken: { type: 'apiKey', in: 'header', name: 'X-ReAuth-Token' },
        deviceCertificate: { type: 'mutualTLS' },
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
  const { summary, access, params, query, body, response, consumes = 'json' } = declared;
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
    operationId: `${declared.method.toLowerCase()}${declared.path.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    security: securityOf(access),
    ...(access.kind === 'admin' ? { 'x-permission': access.permission } : {}),
    parameters: [
      ...parametersOf('path', declared.path, params),
      ...parametersOf('query', '', query),
      ...reauthenticationHeader(access),
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
        description: 'Refused',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function responseOf(answer: AnyRoute<never>['response']): object {
  if (!answer) return { description: 'Done' };
  if ('media' in answer) return { description: 'Done', content: { [answer.media]: {} } };
  return { description: 'Done', content: { 'application/json': { schema: jsonSchema(answer, 'output') } } };
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
    'The role does not allow it, or `re-authentication required`: get a token from the `verify-password` route of the same interface and repeat the request with it in `X-ReAuth-Token`',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

/** Also named in `security`; as a parameter it can say when it is needed, which a security requirement cannot. */
function reauthenticationHeader(access: Access): object[] {
  if (!asksForReauthentication(access)) return [];
  const where = access.kind === 'admin' ? access.reauthWhere : undefined;
  const lifetime =
    access.kind === 'org'
      ? 'Single use, valid for 300 seconds in this session'
      : 'Valid for 300 seconds in this session, any number of times';
  return [
    {
      name: 'X-ReAuth-Token',
      in: 'header',
      required: where === undefined,
      description: `A re-authentication token. ${lifetime}. ${where === undefined ? 'Always needed.' : `Needed where ${where}.`}`,
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
