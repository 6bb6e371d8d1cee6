import type { TenantId } from '../../platform/kernel/ids.ts';
import type { OneTimeTokens } from './one-time-tokens.ts';

export interface ReauthenticationDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

/** Interface "Limits". */
export const REAUTHENTICATION_SECONDS = 300;

export interface ReauthenticatedSession {
  readonly tenantId: TenantId;
  readonly adminId: string;
  readonly sessionId: string;
}

/**
 * Issues a token for an admin who has just re-authenticated: valid in this session only, for its whole lifetime
 * (OP-025).
 */
export const issueReauthentication = (
  { oneTimeTokens }: ReauthenticationDependencies,
  { tenantId, adminId, sessionId }: ReauthenticatedSession,
): Promise<string> =>
  oneTimeTokens.issue('reauth', { tenantId, subjectId: adminId, payload: { sessionId } }, REAUTHENTICATION_SECONDS);

/** The same for an organization's admin, valid for one write (OP-147). */
export const issueOrgReauthentication = (
  { oneTimeTokens }: ReauthenticationDependencies,
  { tenantId, adminId, sessionId }: ReauthenticatedSession,
): Promise<string> =>
  oneTimeTokens.issue('org-reauth', { tenantId, subjectId: adminId, payload: { sessionId } }, REAUTHENTICATION_SECONDS);
