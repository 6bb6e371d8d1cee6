import type { FastifyInstance, FastifyRequest } from 'fastify';

type GiveBack = () => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request has used up, each with how it is given back. */
    usedUp: GiveBack[] | undefined;
  }
}

/** A request that got 503 has done nothing: whoever tries again needs again what it has used up. */
export function giveBackAfterOutages(app: FastifyInstance): void {
  app.decorateRequest('usedUp', undefined);
  app.addHook('onSend', async ({ usedUp }, reply) => {
    if (reply.statusCode !== 503) return;
    // The browser needs again what it had.
    reply.removeHeader('set-cookie');
    for (const giveBack of usedUp ?? []) void giveBack();
  });
}

/** `giveBack` runs if the request gets 503. It never rejects. */
export function giveBackOn503(request: FastifyRequest, giveBack: GiveBack): void {
  request.usedUp = [...(request.usedUp ?? []), giveBack];
}
