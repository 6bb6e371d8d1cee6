import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents } from '../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../platform/kernel/ids.ts';

/**
 * The accepted one-time codes of an admin's secret. They have their own stream beside the tenant's or the
 * organization's, because every sign-in adds to it. Events contain no code, only its time step (RFC 6238 §4.2).
 */
const schema = z.object({
  adminId: uuid(),
  totpSecretRef: uuid(),
  step: z.int(),
  /** The session that the sign-in with this code begins. Absent in events from before decision 0208. */
  sessionId: uuid().optional(),
});
export const totpEvents = defineEvents('totp', {
  TotpCodeAccepted: {
    version: 1,
    schema,
    about: { resource: 'admin_user', id: 'adminId' },
    audit: 'admin_user.totp_code_accepted',
  },
  OrgAdminTotpCodeAccepted: {
    version: 1,
    schema,
    about: { resource: 'org_admin', id: 'adminId' },
    audit: 'org_admin.totp_code_accepted',
  },
});

interface AcceptedStep {
  readonly step: number;
  readonly sessionId: string | undefined;
}

/** The newest accepted step of each secret. */
export type TotpState = ReadonlyMap<string, AcceptedStep>;

export const totp = defineAggregate<TotpState, typeof totpEvents>(
  totpEvents,
  new Map(),
  (state, { data: { totpSecretRef, step, sessionId } }) =>
    step > (state.get(totpSecretRef)?.step ?? 0) ? new Map(state).set(totpSecretRef, { step, sessionId }) : state,
);

/**
 * Steps only rise, so the newest event of a secret is sufficient. A few more cover the time in which a secret is
 * replaced.
 */
export const TOTP_TAIL = 8;

export const totpStream = (tenantId: TenantId, adminId: string): string => streamName('totp', tenantId, adminId);
