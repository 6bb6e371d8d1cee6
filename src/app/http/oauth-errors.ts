import { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import type { OAuthError, OAuthErrorCode } from '../../contexts/scim/grants.ts';
import type { Refusal } from './refusal.ts';
import type { ResponseHead } from './response-head.ts';

type Sent = Pick<FastifyRequest, 'headers'>;

export const isForm = ({ headers }: Sent): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');

/** F260. OP-217: clients that send a form expect the name of RFC 6749, too. */
const bodyOf = (request: Sent, error: OAuthErrorCode, description: string) => ({
  error,
  errorDescription: description,
  ...(isForm(request) ? { error_description: description } : {}),
});

/** `error_description`: in responses to forms. */
export const oauthErrorView = z
  .object({ error: z.string(), errorDescription: z.string(), error_description: z.string().optional() })
  .meta({ title: 'OAuthError' });

/** OpenID Connect Back-Channel Logout 1.0 §2.8: the names of RFC 6749 whatever was sent, because a provider sends nothing else. */
export const logoutTokenErrorView = oauthErrorView.required().meta({ title: 'LogoutTokenError' });

const codeOf = (status: number): OAuthErrorCode => {
  if (status === 401) return 'invalid_client';
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
};

/** The body of an error that a route of OAuth did not decide on itself: a wrong input, a used-up budget. */
export const oauthRefusal = ({ status, message }: Refusal, request: Sent): object =>
  bodyOf(request, codeOf(status), message);

export const logoutTokenRefusal = ({ status, message }: Refusal): object => bodyOf(FORM, codeOf(status), message);
const FORM: Sent = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };

/** RFC 6749 §5.2: 401 for a client that is not authenticated, with the scheme it may use; otherwise 400. */
export function sendOAuthError(request: FastifyRequest, reply: ResponseHead, { code, message }: OAuthError): object {
  reply.status(code === 'invalid_client' ? 401 : 400);
  if (code === 'invalid_client') reply.header('www-authenticate', 'Basic realm="castellan", charset="UTF-8"');
  return bodyOf(request, code, message);
}
