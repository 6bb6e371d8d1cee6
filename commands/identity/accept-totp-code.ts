import { totp, TOTP_TAIL, totpStream } from '../../src/contexts/identity/domain/totp-codes.ts';
import { isSameSignIn } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface AcceptTotpCode {
  /** The kind of admin: a tenant's or an organization's. */
  readonly subjectKind: 'admin' | 'org_admin';
  readonly adminId: string;
  readonly totpSecretRef: string;
  /** The time step of the right code. */
  readonly step: number;
  /** The session that the sign-in begins. */
  readonly sessionId?: string;
}

/**
 * Each code is accepted for one sign-in (RFC 6238 §5.2), and none older than the newest accepted one. A sign-in that something
 * away has interrupted is repeated with its code.
 */
export const acceptTotpCode = defineCommand({
  name: 'AcceptTotpCode',
  aggregate: totp,
  tail: TOTP_TAIL,
  stream: ({ adminId }: AcceptTotpCode, { tenantId }) => totpStream(tenantId, adminId),
  decide(accepted, { subjectKind, ...input }) {
    const newest = accepted.get(input.totpSecretRef);
    if (newest?.step === input.step && isSameSignIn(newest, input)) return accept([]);
    if (newest && input.step <= newest.step) return unauthenticated('invalid_code');
    return accept([{ type: subjectKind === 'admin' ? 'TotpCodeAccepted' : 'OrgAdminTotpCodeAccepted', data: input }]);
  },
});
