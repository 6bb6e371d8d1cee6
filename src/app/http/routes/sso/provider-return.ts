import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { OidcCallback } from '../../../../contexts/sso/oidc-sign-in.ts';
import { readBrowserSecret } from '../../browser-cookie.ts';
import { truthText } from '../../query-types.ts';

const STATE_CHARACTERS = 512;

const state = z
  .string()
  .optional()
  .transform((text = '') => (text.length > STATE_CHARACTERS ? '' : text));

/**
 * The query of a provider's callback (RFC 6749 §4.1.2, RFC 9207), each parameter once (§3.1). Only `state` is ours. A missing or
 * oversized one belongs to no sign-in, which the sign-in page says, not JSON.
 */
export const providerReturnQuery = z.object({ state }).catchall(z.string());

/** For admins who sign in through a provider and have no password to re-authenticate with. */
export const reauthenticationQuery = { reauthenticate: truthText().optional() };

/** The callback parameters, with the secret from this browser's cookie. */
export const returnedBy = (request: FastifyRequest, state: string): OidcCallback => ({
  state,
  query: new URL(request.url, 'http://callback').searchParams,
  browserSecret: readBrowserSecret(request, state),
});
