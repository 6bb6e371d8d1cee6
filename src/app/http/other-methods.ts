import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { oauthRefusal } from './oauth-errors.ts';
import { refusalOf } from './refusal.ts';
import type { AnyRoute } from './route.ts';
import { SCIM_MEDIA, scimRefusal } from './scim-errors.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const JSON_MEDIA = 'application/json; charset=utf-8';

/** The protocols whose RFCs know the status, and the media types of their errors. */
const PROTOCOLS: readonly (readonly [refusal: AnyRoute<never>['refusal'], media: string])[] = [
  [scimRefusal, SCIM_MEDIA],
  [oauthRefusal, JSON_MEDIA],
];

/**
 * A path of SCIM or OAuth with a method that it does not have: 405 with `Allow` (RFC 9110 §15.5.6). Identity providers take
 * 404 for a resource that is gone, and for a wrong address.
 */
export function refuseOtherMethods(app: FastifyInstance, routes: readonly AnyRoute<never>[]): void {
  for (const [shape, media] of PROTOCOLS) {
    const ofProtocol = routes.filter(({ refusal }) => refusal === shape);
    for (const [path, methods] of methodsByPath(ofProtocol)) refuseOthers(app, path, methods, { shape, media });
  }
}

function methodsByPath(routes: readonly AnyRoute<never>[]): ReadonlyMap<string, readonly string[]> {
  const known = new Map<string, string[]>();
  for (const { path, method } of routes) known.set(path, [...(known.get(path) ?? []), method]);
  return known;
}

function refuseOthers(
  app: FastifyInstance,
  path: string,
  methods: readonly string[],
  { shape, media }: { readonly shape: AnyRoute<never>['refusal']; readonly media: string },
): void {
  const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
    const refusal = refusalOf('method_not_allowed');
    await reply.status(refusal.status).header('allow', allow.toSorted().join(', ')).type(media).send(shape!(refusal));
    return reply;
  };
  // Before the body is read: it does not matter what it is.
  app.route({
    method: METHODS.filter((method) => !methods.includes(method)),
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    onRequest: refuse,
    handler: refuse,
  });
}
