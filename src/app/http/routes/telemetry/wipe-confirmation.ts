import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { wipeIdOf } from '../../../../contexts/devices/domain/device.ts';
import { readReported } from '../../../../contexts/telemetry/domain/reported-observation.ts';
import { ingestBatch, type Batch, type Intake, type IntakeResult } from './telemetry-intake.ts';

/**
 * The report of a completed wipe from a device that may report nothing else: its user is inactive, or the wipe has
 * already ended and the response got lost. Only the report itself is taken from each event.
 */
export async function confirmWipe(call: Intake, batch: Batch): Promise<IntakeResult> {
  const { tenantId, deviceId, onlyConfirmsWipe = unauthenticated() } = call.principal;
  const device = await call.services.lookups.device(tenantId, deviceId);
  const wipeId = device && wipeIdOf(device);
  const reports = batch.events.map((event) => {
    const read = readReported(event);
    if (wipeId === undefined || !('kind' in read) || read.kind !== 'wipe_completed' || read.wipeId !== wipeId)
      throw new FailureError(onlyConfirmsWipe);
    return { kind: read.kind, eventId: read.eventId, occurredAt: read.occurredAt, data: { wipeId } };
  });
  if (device?.status === 'wiped') return { accepted: 0, duplicates: reports.length, rejected: [] };
  return ingestBatch(call, { deviceSequence: batch.deviceSequence, events: reports });
}
