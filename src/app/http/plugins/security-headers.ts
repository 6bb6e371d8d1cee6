import { IncomingMessage, ServerResponse, type OutgoingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

/** API responses are not pages: a browser gets no scripts, frames or forms from them. Pages set their own policy. */
const protect = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  hsts: { maxAge: 31_536_000, includeSubDomains: true },
});

/** Helmet's headers are constant, so they are computed once. Setting them per request took 10 % of a small response. */
export const securityHeaders = Object.entries(headersOf());

export function setSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onSend', async (_request, reply) => {
    // The client has the headers with its cached response (RFC 9110 §15.4.5). Most polls of a fleet end with 304.
    if (reply.statusCode === 304) return;
    for (const [name, value] of securityHeaders) if (!reply.hasHeader(name)) void reply.header(name, value);
  });
}

function headersOf(): OutgoingHttpHeaders {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  protect(request, response, (error) => {
    if (error) throw error;
  });
  return { ...response.getHeaders() };
}
