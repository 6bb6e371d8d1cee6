import { z } from 'zod';
import type { OffboardingRow } from '../../projections/employees/offboardings.ts';
import { leavingCauses, offboardingSteps } from '../../src/contexts/employees/domain/offboarding.ts';
import { provisioningKinds } from '../../src/contexts/employees/domain/provisioning.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** The receipt of an offboarding (OP-387). */
export const offboardingView = z
  .object({
    id: z.uuid(),
    userId: z.uuid(),
    /** `cancelled`: the person returned before all steps were taken. */
    state: z.enum(['running', 'completed', 'cancelled']),
    cause: z.enum(leavingCauses),
    causeEventId: z.uuid(),
    causedAt: z.iso.datetime(),
    by: z.object({ kind: z.string(), id: z.uuid().nullable() }),
    source: z.object({ kind: z.enum(provisioningKinds), id: z.uuid() }).nullable(),
    steps: z.array(
      z.object({
        name: z.enum(offboardingSteps),
        state: z.enum(['pending', 'waiting', 'completed', 'cancelled']),
        count: z.int().nullable(),
        /** When a waiting step is due. */
        dueAt: z.iso.datetime().nullable(),
        completedAt: z.iso.datetime().nullable(),
        eventId: z.uuid().nullable(),
      }),
    ),
    startedAt: z.iso.datetime(),
    completedAt: z.iso.datetime().nullable(),
    returnedAt: z.iso.datetime().nullable(),
  })
  .meta({ title: 'Offboarding' });
export type OffboardingView = z.output<typeof offboardingView>;

const SQL = 'select * from offboardings where tenant_id = $1 and user_id = $2';

export const getOffboarding: Query<{ userId: string; now: number }, OffboardingView> = async (
  reads,
  { userId, now },
) => {
  const row = await reads.one<OffboardingRow>(SQL, [userId]);
  if (!row) return notFound();
  return {
    id: row.offboarding_id,
    userId,
    state: row.state,
    cause: row.cause,
    causeEventId: row.cause_event_id,
    causedAt: row.caused_at,
    by: row.requested_by,
    source: row.source,
    steps: offboardingSteps.map((name) => stepOf(row, name, now)),
    startedAt: row.started_at,
    completedAt: row.completed_at,
    returnedAt: row.returned_at,
  };
};

function stepOf(row: OffboardingRow, name: (typeof offboardingSteps)[number], now: number) {
  const done = row.steps.find((step) => step.name === name);
  if (done) return { ...done, state: 'completed' as const, dueAt: null };
  const nothing = { name, count: null, dueAt: null, completedAt: null, eventId: null };
  if (row.state !== 'running') return { ...nothing, state: 'cancelled' as const };
  const waits = name === 'device_certificates' && Date.parse(row.certificates_end_at) > now;
  return waits
    ? { ...nothing, state: 'waiting' as const, dueAt: row.certificates_end_at }
    : { ...nothing, state: 'pending' as const };
}
