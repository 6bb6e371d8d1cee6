import type { OneTimeTokens } from '../../identity/one-time-tokens.ts';
import { issueHandover, type PageReturn, type SignInHandover } from '../page-return.ts';
import { loggedOutSince } from '../refused-exchange.ts';
import type { SamlMarks } from './logout-marks.ts';
import type { Issued, ProviderSessions } from './provider-sessions.ts';

export interface IssueSamlCodeDependencies {
  readonly oneTimeTokens: OneTimeTokens;
  readonly samlSessions: ProviderSessions;
}

/**
 * Issues the code of an assertion, unless the provider asked for a logout since. A logout at the same time either finds the
 * code, or is found here. Throws `SsoRefused`.
 */
export async function issueSamlCode(
  { oneTimeTokens, samlSessions }: IssueSamlCodeDependencies,
  handover: SignInHandover & { readonly marks: SamlMarks },
  page: PageReturn,
  issued: Issued,
): Promise<string> {
  const code = await issueHandover(oneTimeTokens, handover, page);
  if (!(await samlSessions.isLoggedOut(handover.tenantId, handover.marks, issued))) return code;
  await oneTimeTokens.discard('sso-handoff', code);
  throw loggedOutSince(handover.adminId, code);
}
