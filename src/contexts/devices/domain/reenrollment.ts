import { forbidden } from '../../../platform/kernel/failure.ts';
import { heldCertificate, type DeviceState } from './device.ts';

/**
 * The proof that an enrollment presents besides the fingerprint. A fingerprint proves nothing: it is in the device list
 * and can be computed.
 */
export interface EnrollmentProof {
  /** The employee that an administrator bound the token to; null: the token is not bound. */
  readonly userId: string | null;
  /** Serial number of the certificate on the connection, if that certificate was accepted for this device. */
  readonly certificateSerial: string | null;
  /** The id of the token; null: it needs none. */
  readonly tokenId: string | null;
}

/**
 * What an enrollment does to a device record:
 *  - `new`: there is none yet.
 *  - `same`: proved to be this device. It keeps its user, and a pending wipe stays pending.
 *  - `allowed`: revoked, and an administrator allows one more enrollment. The record stays; its user stays only with
 *     proof.
 *  - `revoked`: refused until an administrator allows it.
 *  - `deleted`: the record is final.
 *  - `unproven`: the record must not be changed.
 */
export type EnrollmentKind = 'new' | 'same' | 'allowed' | 'revoked' | 'unproven' | 'deleted';

export const DEVICE_REVOKED = forbidden('device_revoked');

export function enrollmentKindOf(
  state: DeviceState,
  { userId, certificateSerial, tokenId }: EnrollmentProof,
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
      if (isReturned(state, tokenId)) return 'same';
      return certificateSerial !== null && heldCertificate(state, certificateSerial, now) ? 'same' : 'unproven';
    }
  }
}

/** True if the token enrolled this device, and nobody holds the certificate. */
export const isReturned = ({ returnedToken }: DeviceState, tokenId: string | null): boolean =>
  tokenId !== null && returnedToken === tokenId;
