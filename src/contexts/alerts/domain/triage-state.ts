import { z } from 'zod';
import { alertStatuses, severitySchema } from './vocabulary.ts';

/**
 * Where an alert stands in triage. The events that move it carry where it stood and where it stands, so that charts and
 * times are sums of differences, counted as events arrive: nothing has to go through the alerts again.
 */
export const triageStateSchema = z.object({
  raisedAt: z.iso.datetime(),
  severity: severitySchema,
  status: z.enum(alertStatuses),
  /** First acknowledged, since it was raised or last reopened. */
  acknowledgedAt: z.iso.datetime().nullable(),
  /** Last closed, unless it was reopened since. */
  resolvedAt: z.iso.datetime().nullable(),
});
export type TriageState = z.output<typeof triageStateSchema>;

/** Null for alerts from before this was recorded: their moves are in no figure. */
export const triageMoveFields = { was: triageStateSchema.nullable(), is: triageStateSchema.nullable() };
export interface TriageMove {
  readonly was: TriageState | null;
  readonly is: TriageState | null;
}
export const unknownTriageMove: TriageMove = { was: null, is: null };

export const triageMove = (was: TriageState | null, change: Partial<TriageState>): TriageMove =>
  was ? { was, is: { ...was, ...change } } : unknownTriageMove;
