import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { OidcCallback } from '../../../../contexts/sso/oidc-sign-in.ts';
import { readBrowserSecret } from '../../browser-cookie.ts';

const STATE_CHARACTERS = 512;

/**
 * Of a provider's answer the state is ours; the rest is taken as it comes (RFC 6749 §4.1.2, RFC 9207). One that cannot be ours is none:
 * a browser is told in the way of the sign-in that it belongs to, not in JSON.
 */
export const providerReturnQuery = z.looseObject({ state: z.string().max(STATE_CHARACTERS).catch('') });

/** What a browser brings from a provider, and what only it can have. */
export const returnedBy = (request: FastifyRequest, state: string): OidcCallback => ({
  state,
  query: new URL(request.url, 'http://callback').searchParams,
  browserSecret: readBrowserSecret(request, state),
});
