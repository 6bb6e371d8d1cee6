import type { FastifyReply, FastifyRequest } from 'fastify';

/** Redirects with an empty body. `address` must be our own or a provider's, never from the caller (open redirect). */
export function redirect(reply: FastifyReply, status: 302 | 303, address: string): string {
  reply.status(status).header('location', address);
  return '';
}

/** True for a browser that shows what it gets to a person. Scripts and other clients do not ask for HTML. */
export const acceptsPages = ({ headers }: FastifyRequest): boolean => (headers.accept ?? '').includes('text/html');
