import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FailureError, temporarilyUnavailable } from '../../../platform/kernel/failure.ts';
import { giveBackAll } from './given-back.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Resolves when the requests that were cut short have ended and owe what they used up, or soon. */
    givenUp(): Promise<void>;
  }
  interface FastifyRequest {
    /** It got 503 at the end of the drain time, while it was still being worked on. */
    isCutShort: boolean;
    /** Its handler, while that works. Never rejects. */
    handling: Promise<void> | undefined;
    isResponding: boolean;
  }
}

/** For a refusal to be sent, before its connection is closed. */
export const LAST_WORDS_MS = 500;
/** A silent database may hold up a handler for longer than the process lives. */
const HANDLER_MS = 2_000;

/**
 * Requests for which the drain time has not sufficed get 503 before their connections are closed. What they have used up is
 * given back once their handlers have ended: before that, they may still use it up.
 */
export function refuseWhatIsLeft(app: FastifyInstance, drainMs: number): void {
  const underWay = new Set<FastifyReply>();
  const cutShort: Promise<void>[] = [];
  app.decorateRequest('isCutShort', false);
  app.decorateRequest('isResponding', false);
  app.decorateRequest('handling', undefined);
  app.decorate('givenUp', async () => void (await Promise.all(cutShort)));
  app.addHook('onRequest', (_request, reply, done) => {
    underWay.add(reply);
    done();
  });
  app.addHook('onSend', async (request) => {
    request.isResponding = true;
  });
  app.addHook('onResponse', (_request, reply, done) => {
    underWay.delete(reply);
    done();
  });
  app.addHook('preClose', async () => {
    setTimeout(() => {
      for (const reply of underWay) if (isWaiting(reply)) cutShort.push(refuse(reply));
    }, drainMs).unref();
  });
}

const isWaiting = ({ request, raw }: FastifyReply): boolean => !request.isResponding && !raw.headersSent;

async function refuse(reply: FastifyReply): Promise<void> {
  const { request } = reply;
  request.isCutShort = true;
  // What has not begun must not happen after the 503.
  request.deadline?.expire();
  reply.send(new FailureError(temporarilyUnavailable()));
  await Promise.race([request.handling ?? sleep(HANDLER_MS), sleep(HANDLER_MS)]);
  void giveBackAll(request);
}

/** Runs a request's handler. What comes of it is sent, unless the request was cut short meanwhile. */
export async function handled(
  request: FastifyRequest,
  reply: FastifyReply,
  handle: () => Promise<unknown>,
): Promise<unknown> {
  const work = handle();
  request.handling = work.then(nothing, nothing);
  try {
    return await work;
  } catch (error) {
    if (request.isCutShort) return reply;
    throw error;
  }
}

const nothing = (): void => undefined;
