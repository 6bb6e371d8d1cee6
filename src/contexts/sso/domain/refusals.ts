import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/** Why a single sign-on led to nobody (choice OP-150): what the login page is told. */
export const ssoRefusals = [
  'invalid_state',
  'idp_error',
  'token_exchange_failed',
  'invalid_assertion',
  'email_not_verified',
  'account_not_found',
  'account_disabled',
  'sso_not_configured',
] as const;
export type SsoRefusal = (typeof ssoRefusals)[number];

/**
 * Each refused attempt is a short stream of its own: what strangers send must not lengthen a stream that decisions load.
 * Nothing of what they sent is kept, only what was wrong with it.
 */
export const ssoSignInEvents = defineEvents('ssoSignIn', {
  SsoSignInRefused: {
    version: 1,
    schema: z.object({
      protocol: z.enum(['oidc', 'saml']),
      reason: z.enum(ssoRefusals),
      /** A word of the protocol's own checks, e.g. `signature`. */
      detail: z.string().nullable(),
      configId: uuid().nullable(),
      /** The admin, where the e-mail named one. */
      subjectId: uuid().nullable(),
    }),
    audit: 'sso.sign_in_refused',
  },
});

export const ssoSignIn = defineAggregate<{ readonly refused: boolean }, typeof ssoSignInEvents>(
  ssoSignInEvents,
  { refused: false },
  () => ({ refused: true }),
);
export const ssoSignInStream = (tenantId: TenantId, attemptId: string): string =>
  streamName('ssoSignIn', tenantId, attemptId);
