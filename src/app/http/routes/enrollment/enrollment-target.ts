import { randomUUID } from 'node:crypto';
import { ENROLLED_MEANWHILE, FINGERPRINT_MOVED } from '../../../../../commands/enrollment/enroll-device.ts';
import {
  device,
  deviceStream,
  fingerprintClaim,
  latestSerial,
  userFingerprintClaim,
  type DeviceState,
} from '../../../../contexts/devices/domain/device.ts';
import { isReturned } from '../../../../contexts/devices/domain/reenrollment.ts';
import { singleUse } from '../../../../contexts/enrollment/domain/enrollment-token.ts';
import { streamSubject } from '../../../../platform/kernel/aggregate.ts';
import { FailureError, temporarilyUnavailable } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { DevicePrincipal } from '../../principal.ts';
import type { WithAggregates, WithClaimHolder } from '../../../../../commands/ports.ts';

export interface DeviceOfFingerprintDependencies {
  readonly ports: WithAggregates & WithClaimHolder;
}

/** Maximum attempts. Each failed one means that another request with the same fingerprint succeeded. */
const MAX_TURNS = 8;

/** What an enrollment request says and proves about its device. */
export interface EnrollingDevice {
  readonly fingerprint: string;
  /** The employee that the token is bound to. */
  readonly userId: string | null;
  /** The device whose credential the request carries. */
  readonly shown: DevicePrincipal | undefined;
  /** The id of its token; null: it needs none. */
  readonly tokenId: string | null;
}

export interface EnrollmentTarget {
  readonly deviceId: string;
  readonly isKnown: boolean;
  /** The device that has the fingerprint and stays as it is; null unless `deviceId` is fresh. */
  readonly besideDeviceId: string | null;
  /** The latest certificate of an existing device; null: it has none, or `deviceId` is fresh. */
  readonly expectedSerial: string | null;
}

/** What `enrollmentTargetNow` chose when the request arrived, before it waited for its turn. */
export type ArrivedAt = Pick<EnrollmentTarget, 'deviceId' | 'expectedSerial'>;

/**
 * Enrolls the existing device that this browser is proved to be, or else a new one. If another request with the same
 * fingerprint wins between the look-up and the append, the command refuses this one, and the look-up is repeated. With
 * `arrived`, a device that another request enrolled since is refused instead: its new certificate must not end.
 */
export async function enrollmentTargetOf<T>(
  services: DeviceOfFingerprintDependencies,
  tenantId: TenantId,
  enrolling: EnrollingDevice,
  enroll: (target: EnrollmentTarget) => Promise<T>,
  arrived?: ArrivedAt,
): Promise<T> {
  for (let turn = 1; turn <= MAX_TURNS; turn += 1) {
    const target = await enrollmentTargetNow(services, tenantId, enrolling);
    if (arrived && target.isKnown && target.deviceId !== arrived.deviceId) throw new FailureError(ENROLLED_MEANWHILE);
    try {
      return await enroll({ ...target, ...(arrived && target.isKnown && { expectedSerial: arrived.expectedSerial }) });
    } catch (error) {
      if (!(error instanceof FailureError) || error.failure !== FINGERPRINT_MOVED) throw error;
    }
  }
  throw new FailureError(temporarilyUnavailable());
}

const known = ({ deviceId, state }: Candidate): EnrollmentTarget => ({
  deviceId,
  isKnown: true,
  besideDeviceId: null,
  expectedSerial: latestSerial(state),
});
const fresh = (besideDeviceId: string | null): EnrollmentTarget => ({
  deviceId: randomUUID(),
  isKnown: false,
  besideDeviceId,
  expectedSerial: null,
});

/** Chooses the device. The command checks the choice again, on the device's current state. */
export async function enrollmentTargetNow(
  { ports }: DeviceOfFingerprintDependencies,
  tenantId: TenantId,
  { fingerprint, userId, shown, tokenId }: EnrollingDevice,
): Promise<EnrollmentTarget> {
  const candidateOf = async (stream: string | undefined): Promise<Candidate | undefined> =>
    stream === undefined
      ? undefined
      : { deviceId: streamSubject(stream), state: await ports.aggregates.load(device, stream) };
  const [usedBy, holderStream, ofUserStream] = await Promise.all([
    tokenId === null ? undefined : ports.claimHolder(tenantId, singleUse(tokenId)),
    ports.claimHolder(tenantId, fingerprintClaim(fingerprint)),
    userId === null ? undefined : ports.claimHolder(tenantId, userFingerprintClaim(fingerprint, userId)),
  ]);
  const isFor = (principal: DevicePrincipal): boolean =>
    principal.tenantId === tenantId && (userId === null || userId === principal.userId);
  const shownStream = shown && isFor(shown) ? deviceStream(tenantId, shown.deviceId) : undefined;
  // Revoked before its use: the token itself holds the claim.
  const usedByDevice = usedBy?.startsWith(deviceStream(tenantId, '')) ? usedBy : undefined;
  const [enrolled, itself, holder, ofUser] = await Promise.all(
    [usedByDevice, shownStream, holderStream, ofUserStream].map(candidateOf),
  );
  // A repetition, after an outage in which nobody heard that the first time succeeded.
  if (enrolled && isRepeated(enrolled.state, { fingerprint, userId, tokenId })) return known(enrolled);
  if (itself?.state.fingerprint === fingerprint) return known(itself);
  if (ofUser && ofUser.state.userId === userId) return known(ofUser);
  if (!holder) return fresh(null);
  return mayBe(holder.state, userId) ? known(holder) : fresh(holder.deviceId);
}

interface Candidate {
  readonly deviceId: string;
  readonly state: DeviceState;
}

/** A browser may continue as the device with its fingerprint if that device is revoked or belongs to the same user. */
const mayBe = ({ status, userId: holderId }: DeviceState, userId: string | null): boolean =>
  status === 'revoked' || (userId !== null && holderId === userId);

const isRepeated = (
  state: DeviceState,
  { fingerprint, userId, tokenId }: Pick<EnrollingDevice, 'fingerprint' | 'userId' | 'tokenId'>,
): boolean =>
  isReturned(state, tokenId) && state.fingerprint === fingerprint && (userId === null || userId === state.userId);
