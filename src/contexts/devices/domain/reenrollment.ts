import { forbidden } from '../../../platform/kernel/failure.ts';
import { heldCertificate, type DeviceState } from './device.ts';

/** What an enrollment shows besides the fingerprint. A fingerprint is in the device list and can be computed: it proves nothing. */
export interface EnrollmentProof {
  /** The employee to whom an administrator bound the token; null: the token is anybody's. */
  readonly userId: string | null;
  /** Serial number of the certificate on the connection, if that certificate was accepted for this device. */
  readonly certificateSerial: string | null;
}

/**
 * What an enrollment makes of a device record:
 *  - `new`: there is none yet.
 *  - `same`: it is proved to be this device. It keeps its user, and a pending wipe stays pending.
 *  - `allowed`: it was revoked, and an administrator lets it enroll once more. The record stays, its user only with proof.
 *  - `revoked`: refused until an administrator allows it.
 *  - `unproven`: the record must not be touched.
 */
export type EnrollmentKind = 'new' | 'same' | 'allowed' | 'revoked' | 'unproven' | 'deleted';

export const DEVICE_REVOKED = forbidden('the device is revoked: an administrator has to allow it to enroll again');

export function enrollmentKindOf(
  state: DeviceState,
  { userId, certificateSerial }: EnrollmentProof,
  now: number,
): EnrollmentKind {
  switch (state.status) {
    case 'none':
      return 'new';
    case 'deleted':
      return 'deleted';
    case 'revoked':
      return state.mayReenroll ? 'allowed' : 'revoked';
    default: {
      if (userId !== null) return userId === state.userId ? 'same' : 'unproven';
      return certificateSerial !== null && heldCertificate(state, certificateSerial, now) ? 'same' : 'unproven';
    }
  }
}
