import { z } from 'zod';
import { alertStatuses, severitySchema } from './vocabulary.ts';

/**
 * The triage state of an alert. Triage events carry the previous and the new state. Charts and durations are therefore
 * sums of differences, and nothing has to read the alerts again.
 */
export const triageStateSchema = z.object({
  raisedAt: z.iso.datetime(),
  severity: severitySchema,
  status: z.enum(alertStatuses),
  /** First acknowledgement since the alert was raised or last reopened. */
  acknowledgedAt: z.iso.datetime().nullable(),
  /** Last time the alert was closed; null once it is reopened. */
  resolvedAt: z.iso.datetime().nullable(),
});
export type TriageState = z.output<typeof triageStateSchema>;

/** Null for alerts from before this was recorded: no statistic counts their moves. */
export const triageMoveFields = { was: triageStateSchema.nullable(), is: triageStateSchema.nullable() };
export interface TriageMove {
  readonly was: TriageState | null;
  readonly is: TriageState | null;
}
export const unknownTriageMove: TriageMove = { was: null, is: null };

export const triageMove = (was: TriageState | null, change: Partial<TriageState>): TriageMove =>
  was ? { was, is: { ...was, ...change } } : unknownTriageMove;
