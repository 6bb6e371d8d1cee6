import type { FastifyReply } from 'fastify';

/** Redirects with an empty body. `address` must be our own or a provider's, never from the caller (open redirect). */
export function redirect(reply: FastifyReply, status: 302 | 303, address: string): string {
  reply.status(status).header('location', address);
  return '';
}
