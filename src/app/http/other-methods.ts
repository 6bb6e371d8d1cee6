import type { FastifyInstance, FastifyReply } from 'fastify';
import { refusalOf } from './refusal.ts';
import type { AnyRoute } from './route.ts';
import { SCIM_MEDIA, scimRefusal } from './scim-errors.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * A path of SCIM with a method that it does not have: 405 with `Allow` (RFC 9110 §15.5.6). Identity providers take 404 for
 * a resource that is gone.
 */
export function refuseOtherScimMethods(app: FastifyInstance, routes: readonly AnyRoute<never>[]): void {
  const known = new Map<string, string[]>();
  for (const { access, path, method } of routes)
    if (access.kind === 'scim') known.set(path, [...(known.get(path) ?? []), method]);
  for (const [path, methods] of known) {
    const others = METHODS.filter((method) => !methods.includes(method));
    const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    const refuse = async (_request: unknown, reply: FastifyReply) => {
      const refusal = refusalOf('method_not_allowed');
      await reply
        .status(refusal.status)
        .header('allow', allow.toSorted().join(', '))
        .type(SCIM_MEDIA)
        .send(scimRefusal(refusal));
      return reply;
    };
    // Before the body is read: it does not matter what it is.
    app.route({
      method: others,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      onRequest: refuse,
      handler: refuse,
    });
  }
}
