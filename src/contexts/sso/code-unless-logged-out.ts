import type { OneTimeTokens } from '../identity/one-time-tokens.ts';
import type { OidcSessions } from './oidc-sessions.ts';
import type { FinishedSignIn } from './oidc-sign-in.ts';
import { loggedOutSince } from './refused-exchange.ts';

export interface CodeUnlessLoggedOutDependencies {
  readonly oneTimeTokens: OneTimeTokens;
  readonly oidcSessions: OidcSessions;
}

/**
 * Issues the code of a sign-in through an OpenID Connect provider, unless the provider has logged the person out since the callback came.
 * A logout at the same time either finds the code, or is found here (decision 0193). Throws `SsoRefused`.
 */
export async function codeUnlessLoggedOut(
  { oneTimeTokens, oidcSessions }: CodeUnlessLoggedOutDependencies,
  {
    authorization: { owner },
    issuer,
    provider,
    times,
  }: Pick<FinishedSignIn, 'authorization' | 'issuer' | 'provider' | 'times'>,
  { purpose, adminId }: { readonly purpose: 'sso-handoff' | 'org-handoff'; readonly adminId: string },
  issue: () => Promise<string>,
): Promise<string> {
  const code = await issue();
  if (!(await oidcSessions.isLoggedOut(owner, issuer, provider, times))) return code;
  await oneTimeTokens.discard(purpose, code);
  throw loggedOutSince(adminId, code);
}
