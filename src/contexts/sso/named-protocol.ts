import type { SsoProtocol } from './domain/events.ts';

export interface NamedProtocol {
  /** Undefined for a code that names none: an organization's, or one of an earlier version. */
  readonly protocol: SsoProtocol | undefined;
  /** As it is stored. */
  readonly token: string;
}

/**
 * The code of a sign-in, as the page gets it. Nothing is kept of a code that was used or ended, so the code itself says for
 * the audit log which protocol it came by. Nothing else may follow from that: anybody can write it.
 */
export const codeNaming = (protocol: SsoProtocol, token: string): string => `${protocol}.${token}`;

export function namedProtocol(code: string): NamedProtocol {
  const [, protocol, token] = /^(oidc|saml)\.(.*)$/s.exec(code) ?? [];
  return { protocol: protocol as SsoProtocol | undefined, token: token ?? code };
}
