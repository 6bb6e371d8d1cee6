import type { FastifyRequest } from 'fastify';
import { admittedScimToken, type LiveScimToken } from '../../../contexts/scim/live-token.ts';
import type { ScimTokens } from '../../../contexts/scim/access-tokens.ts';
import type { Lookups } from '../../../contexts/identity/lookups.ts';
import { bearerToken } from '../bearer-token.ts';
import { refusedIn } from './refused-scim-clients.ts';

interface ScimTokenDependencies {
  readonly scimTokens: ScimTokens;
  readonly lookups: Lookups;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Looked up once: the rate limit and authentication both need it. */
    scimToken: Promise<LiveScimToken | undefined> | undefined;
  }
}

/** The live token of a request to SCIM; undefined if there is none. */
export function presentedScimToken(
  request: FastifyRequest,
  services: ScimTokenDependencies,
): Promise<LiveScimToken | undefined> {
  const token = bearerToken(request.headers.authorization);
  if (token === undefined) return Promise.resolve(undefined);
  return (request.scimToken ??= admittedScimToken(token, services, refusedIn(request)));
}
