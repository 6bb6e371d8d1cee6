import type { DeviceEvent } from '../../devices/domain/events.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import type { Finding } from './finding.ts';

type DeviceEnrolled = Extract<DeviceEvent, { type: 'DeviceEnrolled' }> & Envelope;

/** A browser was reinstalled, or an attacker who knows a device's fingerprint impersonates the device. */
export function enrolledBesideAnother(event: DeviceEnrolled): Finding[] {
  const { besideDeviceId, deviceId, userId } = event.data;
  if (besideDeviceId === null) return [];
  const observedAt = at(event);
  return [
    {
      alertType: 'policy_violation',
      title: 'A browser enrolled with the fingerprint of another device',
      description:
        'Nothing proved that it is that device, so it was enrolled as a separate device. If its user reinstalled the browser, enroll it again with a token that is bound to the user; otherwise revoke it.',
      userId,
      deviceId,
      domain: null,
      url: null,
      about: `fingerprint|${besideDeviceId}`,
      occurrences: [{ observationId: event.id, occurredAt: observedAt }],
      metadata: { kind: 'device_fingerprint_reuse', observedAt, observationIds: [], besideDeviceId },
    },
  ];
}
