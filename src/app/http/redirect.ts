import type { FastifyReply } from 'fastify';

/** An answer whose body nobody reads. Addresses are our own or a provider's, never a caller's. */
export function redirect(reply: FastifyReply, status: 302 | 303, address: string): string {
  reply.status(status).header('location', address);
  return '';
}
