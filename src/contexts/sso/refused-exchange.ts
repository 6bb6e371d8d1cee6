import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import { ownerWithSso } from './claimed-owner.ts';
import type { SsoProtocol } from './domain/events.ts';
import { attemptOfCode } from './ended-codes.ts';
import type { OrgOidcDependencies } from './org-oidc.ts';
import { namedProtocol } from './named-protocol.ts';
import type { RecordedSsoRefusals } from './recorded-refusals.ts';

/** Whose code was presented. */
export interface CodeOwner {
  readonly tenantId: TenantId;
  readonly protocol: SsoProtocol;
  readonly configId: string;
  readonly subjectId: string;
  /** Of the code, by this exchange. */
  readonly useId: string;
}

export interface RefusedExchange {
  readonly code: string;
  /** Undefined for a code that is not stored. */
  readonly owner: CodeOwner | undefined;
  readonly actor: Actor;
}

/** The code is not stored: used, expired, ended by a logout, or invented. */
export const unknownCode = () => new SsoRefused('invalid_state', 'unknown or used');
/** The code was presented with another verifier, or by another browser, than those of its sign-in. */
export const codeOfAnotherPage = () => new SsoRefused('invalid_state', 'code of another page');
/** The person was signed out everywhere since. */
export const signedOutSince = () => new SsoRefused('invalid_state', 'signed out since');
/** The provider has logged the person out since. `code`: one that the logout may have recorded. */
export const loggedOutSince = (subjectId: string, code?: string) =>
  new SsoRefused('invalid_assertion', 'logged_out', subjectId, code === undefined ? null : attemptOfCode(code));

/**
 * Records an exchange that was refused after the provider had signed a person in. A code that is not stored is recorded
 * with the owner and the protocol that it names, if that owner has single sign-on, as a state is. Codes that name nobody
 * are not recorded.
 */
export async function recordRefusedExchange(
  services: OrgOidcDependencies & { readonly ssoRefusals: RecordedSsoRefusals },
  { reason, detail }: SsoRefused,
  { code, owner, actor }: RefusedExchange,
): Promise<void> {
  if (owner) {
    const { subjectId, ...provider } = owner;
    return services.ssoRefusals.signIn({ ...provider, actor }, { reason, detail, subjectId });
  }
  const named = namedProtocol(code);
  const claimed = await ownerWithSso(services, named.token);
  if (!claimed) return;
  // Organizations have one protocol.
  const protocol = (claimed.kind === 'tenant' ? named.protocol : undefined) ?? claimed.protocol;
  const attempt = { tenantId: claimed.owner, protocol, configId: null, actor };
  await services.ssoRefusals.signIn(attempt, { reason, detail, subjectId: null });
}
