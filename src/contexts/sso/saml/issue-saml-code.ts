import type { OneTimeTokens } from '../../identity/one-time-tokens.ts';
import { issueHandover, type PageReturn, type SignInHandover } from '../page-return.ts';
import type { SamlMarks } from './logout-marks.ts';
import type { Issued, ProviderSessions } from './provider-sessions.ts';
import { refuseSaml } from './refused.ts';

export interface IssueSamlCodeDependencies {
  readonly oneTimeTokens: OneTimeTokens;
  readonly samlSessions: ProviderSessions;
}

/**
 * Issues the code of an assertion, unless the provider asked for a logout since. A logout at the same time either finds the
 * code, or is found here. Throws `SamlRefused`.
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
  return refuseSaml('logged_out', 'the provider has logged the person out since');
}
