import { totp, TOTP_TAIL, totpStream } from '../../src/contexts/identity/domain/totp-codes.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface AcceptTotpCode {
  /** Whose admin it is: a tenant's or an organization's. */
  readonly subjectKind: 'admin' | 'org_admin';
  readonly adminId: string;
  readonly totpSecretRef: string;
  /** The time step that the code was right for. */
  readonly step: number;
}

/** A code lets in once (RFC 6238 §5.2), and none that is older than one which did. */
export const acceptTotpCode = defineCommand({
  name: 'AcceptTotpCode',
  aggregate: totp,
  tail: TOTP_TAIL,
  stream: ({ adminId }: AcceptTotpCode, { tenantId }) => totpStream(tenantId, adminId),
  decide(accepted, { subjectKind, ...input }) {
    const newest = accepted.get(input.totpSecretRef);
    if (newest !== undefined && input.step <= newest) return unauthenticated('invalid code');
    return accept([{ type: subjectKind === 'admin' ? 'TotpCodeAccepted' : 'OrgAdminTotpCodeAccepted', data: input }]);
  },
});
