import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { TooBusy } from '../../../platform/fairness/fair-limiter.ts';
import { version } from '../../../platform/version.ts';
import { countedBy, type RateLimitsDependencies } from '../plugins/rate-limits.ts';
import { whenResponseCloses } from '../when-response-closes.ts';
import { errorBodyView } from '../refusal.ts';
import type { RouteGroup } from '../route.ts';
import { securitySchemes, securityOf } from './access-words.ts';
import { areas } from './areas.ts';
import { exemplify } from './examples.ts';
import { jsonSchema } from './json-schema.ts';
import { nameSchemas, type DescribedOperation } from './name-schemas.ts';
import { operationOf, type SharedResponses } from './operation.ts';
import { webhookOperations, webhookSchemas } from './webhooks.ts';
import { headerComponents } from './response-headers.ts';

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

/**
 * Responses of the description and its page at the same time, of a process. Many addresses together could otherwise have
 * gigabytes copied into sockets before anybody else's turn.
 */
const MAX_AT_ONCE = 32;

function atOnce(max: number) {
  let running = 0;
  return async (_request: unknown, reply: FastifyReply): Promise<void> => {
    if (running >= max) {
      // Whatever waits behind it on the connection would be refused alike.
      void reply.header('connection', 'close');
      throw new TooBusy('the API description');
    }
    running += 1;
    whenResponseCloses(reply, () => (running -= 1));
  };
}

const ENCODED_ELSEWHERE = new Set(['/docs/json', '/docs/yaml']);

/** Serves the OpenAPI 3.1 document of the declared routes at `/openapi.json`, and a browsable reference at `/docs`. */
export async function describeApi(
  app: FastifyInstance,
  groups: readonly RouteGroup<never>[],
  services: RateLimitsDependencies,
): Promise<void> {
  const document = openApiDocument(groups);
  // Encoded once: anybody may ask for it, as often as they like, and read nothing of the responses.
  let encoded: Buffer | undefined;
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
  const served = atOnce(MAX_AT_ONCE);
  await app.register(async (page) => {
    page.addHook('onRequest', served);
    for (const hook of countedBy(app, 'reference', services)) page.addHook('onRequest', hook);
    // The library would encode it anew for every request.
    page.addHook('onRequest', async ({ routeOptions: { url = '' } }, reply) =>
      ENCODED_ELSEWHERE.has(url) ? reply.redirect('../openapi.json') : undefined,
    );
    await page.register(swaggerUi, { routePrefix: '/docs', staticCSP: REFERENCE_POLICY });
  });
  const onRequest = [...countedBy(app, 'description', services), served];
  app.get('/openapi.json', { schema: { hide: true } as object, onRequest }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send((encoded ??= Buffer.from(JSON.stringify(document)))),
  );
}

const DESCRIPTION = `Security administration, authentication, enrollment and provisioning.

Times are RFC 3339 in UTC. Errors have the body \`Error\`: \`code\` names the cause, \`fields\` every wrong field; 429 and 503 say in \`Retry-After\` when to repeat the request, in seconds.`;

/** Paths and components are generated on first read, so that they do not slow down the start. */
export function openApiDocument(groups: readonly RouteGroup<never>[]): object {
  let generated: ReturnType<typeof pathsAndComponents> | undefined;
  const parts = () => (generated ??= pathsAndComponents(groups));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Castellan',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: [...new Set(groups.map(({ area }) => area))].sort().map((name) => ({ name, description: areas[name] })),
    get paths() {
      return parts().paths;
    },
    get webhooks() {
      return parts().webhooks;
    },
    get components() {
      return parts().components;
    },
  };
}

function pathsAndComponents(groups: readonly RouteGroup<never>[]) {
  const paths: Record<string, Record<string, object>> = {};
  const responses: SharedResponses = {};
  for (const { area, routes } of groups) {
    for (const declared of routes) {
      (paths[declared.path] ??= {})[declared.method.toLowerCase()] = operationOf(area, declared, responses);
    }
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods)) as DescribedOperation[];
  const schemas = { Error: jsonSchema(errorBodyView, 'output'), ...nameSchemas(operations), ...webhookSchemas() };
  const used = JSON.stringify([paths, responses]);
  const headers = Object.fromEntries(
    Object.entries(headerComponents).filter(([name]) => used.includes(`"#/components/headers/${name}"`)),
  );
  for (const operation of operations) exemplify(operation as never);
  return {
    paths,
    webhooks: webhookOperations,
    components: { schemas, headers, responses, securitySchemes: usedSchemes(groups) },
  };
}

/** The ways to authenticate that some route asks for. */
function usedSchemes(groups: readonly RouteGroup<never>[]): object {
  const used = new Set(
    groups.flatMap(({ routes }) => routes.flatMap(({ access }) => securityOf(access).flatMap(Object.keys))),
  );
  return Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name)));
}
