import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/** Why a single sign-on was refused (OP-150). The login page shows this code. */
export const ssoRefusals = [
  'invalid_state',
  'idp_error',
  'token_exchange_failed',
  'invalid_assertion',
  'email_not_verified',
  'email_missing',
  'account_not_found',
  'account_disabled',
  'sso_not_configured',
] as const;
export type SsoRefusal = (typeof ssoRefusals)[number];

/** The detail of `sso_not_configured` if something that decides over a sign-in was changed since its start. */
export const CHANGED = 'changed during the sign-in';

/**
 * Each refused attempt, and each refused logout, has its own short stream: requests from unknown clients must not lengthen a stream that
 * decisions load. Nothing of the request is stored, only the reason.
 */
export const ssoSignInEvents = defineEvents('ssoSignIn', {
  SsoSignInRefused: {
    version: 1,
    schema: z.object({
      protocol: z.enum(['oidc', 'saml']),
      reason: z.enum(ssoRefusals),
      /** A code of the protocol's own checks, e.g. `signature`. */
      detail: z.string().nullable(),
      configId: uuid().nullable(),
      /** The admin, if the e-mail identified one. */
      subjectId: uuid().nullable(),
    }),
    audit: 'sso.sign_in_refused',
  },
  /** A logout message of a provider, or one that pretends to be. */
  SsoLogoutRefused: {
    version: 1,
    schema: z.object({
      protocol: z.enum(['oidc', 'saml']),
      /** The claim or the check that failed, e.g. `aud` or `signature`. */
      detail: z.string().nullable(),
      configId: uuid().nullable(),
    }),
    audit: 'sso.logout_refused',
  },
});

export const ssoSignIn = defineAggregate<{ readonly refused: boolean }, typeof ssoSignInEvents>(
  ssoSignInEvents,
  { refused: false },
  () => ({ refused: true }),
);
export const ssoSignInStream = (tenantId: TenantId, attemptId: string): string =>
  streamName('ssoSignIn', tenantId, attemptId);
