import type { FastifyInstance, FastifyRequest } from 'fastify';

type GiveBack = () => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request has used up, each with how it is given back. */
    usedUp: GiveBack[] | undefined;
  }
}

/** Too many requests at once, or an outage. */
const REPEATABLE: ReadonlySet<number> = new Set([429, 503]);

/** A request that is to be repeated has done nothing: whoever tries again needs again what it has used up. */
export function giveBackAfterOutages(app: FastifyInstance): void {
  app.decorateRequest('usedUp', undefined);
  app.addHook('onSend', async (request, reply) => {
    if (!REPEATABLE.has(reply.statusCode)) return;
    // The browser needs again what it had.
    reply.removeHeader('set-cookie');
    if (!request.isCutShort) void giveBackAll(request);
  });
}

/** Once the request is done with it. Each has the same effect however often it runs. */
export async function giveBackAll({ usedUp = [] }: Pick<FastifyRequest, 'usedUp'>): Promise<void> {
  await Promise.all(usedUp.map((giveBack) => giveBack()));
}

/** `giveBack` runs if the request gets 429 or 503. It never rejects. */
export function giveBackIfRepeatable(request: FastifyRequest, giveBack: GiveBack): void {
  request.usedUp = [...(request.usedUp ?? []), giveBack];
}
