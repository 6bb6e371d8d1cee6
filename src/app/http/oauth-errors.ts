import { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import type { OAuthError, OAuthErrorCode } from '../../contexts/scim/grants.ts';
import { withMedia, type Refusal } from './refusal.ts';
import type { ResponseHead } from './response-head.ts';

type Sent = Pick<FastifyRequest, 'headers'>;

export const isForm = ({ headers }: Sent): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');

/**
 * F260, and the name of RFC 6749 §5.2 (OP-217), whatever was sent: of a request that is refused before its body is read, nobody
 * knows whether it was a form.
 */
const bodyOf = (error: OAuthErrorCode, description: string) => ({
  error,
  errorDescription: description,
  error_description: description,
});

export const oauthErrorView = z
  .object({ error: z.string(), errorDescription: z.string(), error_description: z.string() })
  .meta({ title: 'OAuthError' });

const codeOf = (status: number): OAuthErrorCode => {
  if (status === 401) return 'invalid_client';
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
};

/** The body of an error that a route of OAuth did not decide on itself: a wrong input, a used-up budget. */
export const oauthRefusal = (refused: Refusal): object => bodyOf(codeOf(refused.status), withMedia(refused));

/** RFC 6749 §5.2: 401 for a client that is not authenticated, with the scheme it may use; otherwise 400. */
export function sendOAuthError(reply: ResponseHead, { code, message }: OAuthError): object {
  reply.status(code === 'invalid_client' ? 401 : 400);
  if (code === 'invalid_client') reply.header('www-authenticate', 'Basic realm="castellan", charset="UTF-8"');
  return bodyOf(code, message);
}
