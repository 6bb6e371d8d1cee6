import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { recordRefusal } from '../../../../../commands/telemetry/record-refusal.ts';
import { recordTelemetry } from '../../../../../commands/telemetry/record-telemetry.ts';
import {
  acceptedDays,
  AdmittedBatch,
  type TelemetryAdmission,
  type TelemetryAdmissionRules,
  type Reason,
  type Rejection,
} from '../../../../contexts/telemetry/domain/admission.ts';
import { deviceDayStream } from '../../../../contexts/telemetry/domain/device-day.ts';
import { inChunks } from '../../../../contexts/telemetry/domain/chunks.ts';
import { FailureError, limited, type Failure } from '../../../../platform/kernel/failure.ts';
import { dayOf } from '../../../../platform/kernel/read-model.ts';
import type { ExtensionResponses } from '../../../../contexts/policies/extension-responses.ts';
import type { DevicePrincipal } from '../../principal.ts';
import type { HandlerContext } from '../../route.ts';
import {
  retentionOf,
  type StreamRetention,
  type TelemetryRetentionDependencies,
} from '../../../../contexts/telemetry/telemetry-retention.ts';
import { registry } from '../../../../platform/observability/metrics.ts';
import { wipeIdOf } from '../../../../contexts/devices/domain/device.ts';
import { failureOfIssues } from '../../wrong-fields.ts';
import type { ObservationAllowance } from '../../../../contexts/telemetry/observation-allowance.ts';
import type { TechnologyAllowance } from '../../../../contexts/discovery/technology-allowance.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface TelemetryIntakeDependencies extends TelemetryRetentionDependencies {
  readonly extensionResponses: ExtensionResponses;
  readonly streamRetention: StreamRetention;
  readonly observations: ObservationAllowance;
  readonly technologies: TechnologyAllowance;
  readonly lookups: Lookups;
}

const observations = new Counter({
  name: 'castellan_telemetry_observations_total',
  help: 'Observations that devices reported, by outcome',
  labelNames: ['outcome'] as const,
  registers: [registry],
});

function countObservations({ accepted, duplicates, rejected }: IntakeResult): void {
  observations.labels('accepted').inc(accepted);
  observations.labels('duplicate').inc(duplicates);
  observations.labels('rejected').inc(rejected.length);
}

export interface Batch {
  readonly deviceSequence?: number | null | undefined;
  readonly events: readonly unknown[];
}

/** Choice OP-153. */
export interface IntakeResult {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
}

/** Observations per turn of the event loop, about 0.5 ms. */
const JUDGED_IN_A_TURN = 50;

export type Intake = Pick<
  HandlerContext<unknown, unknown, unknown, DevicePrincipal, TelemetryIntakeDependencies>,
  'services' | 'principal' | 'run'
>;

/** Checked before anything is written. Throws 429; the device sends the same batch again later, so nothing is lost. */
async function takeAllowance(
  { observations }: Intake['services'],
  { tenantId, deviceId }: DevicePrincipal,
  amount: number,
): Promise<void> {
  const wait = await observations.take(tenantId, deviceId, amount);
  if (wait > 0) throw new FailureError(limited(Math.ceil(wait / 1_000)));
}

/** Validating a large batch takes milliseconds, so other requests run in between. */
async function admitInTurns(events: readonly unknown[], rules: TelemetryAdmissionRules): Promise<TelemetryAdmission> {
  const admitted = new AdmittedBatch(rules);
  for (const [index, event] of events.entries()) {
    if (index > 0 && index % JUDGED_IN_A_TURN === 0) await nextTurn();
    admitted.take(event);
  }
  return admitted;
}

const reasonOf = ({ message, fields }: Failure): Reason => ({ error: message, field: fields?.[0]?.field ?? null });

/** Validates a batch and records the accepted events, with one append per day (and usually one day per batch). */
export async function ingestBatch(
  { services, principal, run }: Intake,
  { deviceSequence = null, events }: Batch,
): Promise<IntakeResult> {
  const { tenantId, deviceId, userId } = principal;
  const [{ extensionMode, policyVersion }, kept, tenant, device] = await Promise.all([
    services.extensionResponses.ofTenant(tenantId),
    retentionOf(services, tenantId),
    services.lookups.tenant(tenantId, tenantId),
    services.lookups.device(tenantId, deviceId),
  ]);
  const seats = tenant?.license?.maxUsers ?? 0;
  const now = Date.now();
  const days = acceptedDays(Math.min(kept.eventRetentionDays, kept.streamRetentionDays));
  const admission = await admitInTurns(events, {
    now,
    days,
    wipeId: device && wipeIdOf(device),
    explain: (error) => reasonOf(failureOfIssues('event', error)),
  });
  const admitted = admission.indexOf.size;
  await takeAllowance(services, principal, Math.max(1, admitted));
  let { duplicates } = admission;
  let accepted = 0;
  const rejected = [...admission.rejected];
  try {
    for (const [day, ofDay] of admission.days) {
      const input = { deviceId, userId, day, deviceSequence, extensionMode, policyVersion };
      for (const observations of inChunks(await services.technologies.within({ tenantId, deviceId, seats }, ofDay))) {
        const { result } = await run(recordTelemetry, { ...input, observations });
        accepted += result.accepted;
        duplicates += result.duplicates;
        rejected.push(
          ...result.refused.map((eventId) => ({
            index: admission.indexOf.get(eventId)!,
            eventId,
            error: 'too many events in one day',
            code: 'daily_limit' as const,
            field: null,
          })),
        );
      }
      await services.streamRetention.ensure(deviceDayStream(tenantId, deviceId, day), kept.streamRetentionDays);
    }
  } finally {
    services.observations.giveBack(tenantId, deviceId, admitted - accepted);
  }
  // The device numbers its batches, so a batch without accepted events is recorded, too.
  if (admission.secretWords.length > 0 || (accepted === 0 && deviceSequence !== null)) {
    await run(recordRefusal, {
      deviceId,
      userId,
      deviceSequence,
      extensionMode,
      policyVersion,
      secretWords: admission.secretWords,
    });
    await services.streamRetention.ensure(deviceDayStream(tenantId, deviceId, dayOf(now)), kept.streamRetentionDays);
  }
  const result = { accepted, duplicates, rejected: rejected.sort((a, b) => a.index - b.index) };
  countObservations(result);
  return result;
}
