import { randomUUID } from 'node:crypto';
import { FINGERPRINT_MOVED } from '../../commands/enrollment/enroll-device.ts';
import { fingerprintClaim } from '../domain/devices/device.ts';
import { streamSubject } from '../kernel/aggregate.ts';
import { FailureError, unavailable } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';

/** Each turn means that another request with the same fingerprint got through. */
const MOST_TURNS = 8;

/**
 * Enrolls the device that has this fingerprint, or else a new one. Requests with one fingerprint may overtake each other
 * between the look and the append; the claim then refuses the slower one, which looks again.
 */
export async function enrollingDeviceOf<T>(
  { ports }: Services,
  tenantId: TenantId,
  fingerprint: string,
  enroll: (deviceId: string) => Promise<T>,
): Promise<T> {
  for (let turn = 1; turn <= MOST_TURNS; turn += 1) {
    const holder = await ports.claimHolder(tenantId, fingerprintClaim(fingerprint));
    try {
      return await enroll(holder === undefined ? randomUUID() : streamSubject(holder));
    } catch (error) {
      if (!(error instanceof FailureError) || error.failure !== FINGERPRINT_MOVED) throw error;
    }
  }
  throw new FailureError(unavailable());
}
