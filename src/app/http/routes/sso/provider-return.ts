import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { OidcCallback } from '../../../../contexts/sso/oidc-sign-in.ts';
import { readBrowserSecret } from '../../browser-cookie.ts';
import { truthText } from '../../query-types.ts';

const STATE_CHARACTERS = 512;

/**
 * The query of a provider's callback (RFC 6749 §4.1.2, RFC 9207). Only `state` is ours. An oversized `state` is treated as
 * missing, so that the error is shown on the sign-in page, not as JSON.
 */
export const providerReturnQuery = z.looseObject({ state: z.string().max(STATE_CHARACTERS).catch('') });

/** For admins who sign in through a provider and have no password to re-authenticate with. */
export const reauthenticationQuery = { reauthenticate: truthText().optional() };

/** The callback parameters, with the secret from this browser's cookie. */
export const returnedBy = (request: FastifyRequest, state: string): OidcCallback => ({
  state,
  query: new URL(request.url, 'http://callback').searchParams,
  browserSecret: readBrowserSecret(request, state),
});
