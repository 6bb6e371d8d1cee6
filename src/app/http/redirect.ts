import type { ResponseHead } from './response-head.ts';

/** Redirects with an empty body. `address` must be our own or a provider's, never from the caller (open redirect). */
export function redirect(reply: ResponseHead, status: 302 | 303, address: string): string {
  reply.status(status).header('location', address);
  return '';
}
