import { z } from 'zod';
import { alertStatuses, severitySchema } from './vocabulary.ts';

/**
 * Where an alert stands in triage. The events that move it carry where it stood and where it stands, so that charts and
 * times are sums of differences, counted as events arrive: nothing has to go through the alerts again.
 */
export const standingSchema = z.object({
  raisedAt: z.iso.datetime(),
  severity: severitySchema,
  status: z.enum(alertStatuses),
  /** First acknowledged, since it was raised or last reopened. */
  acknowledgedAt: z.iso.datetime().nullable(),
  /** Last closed, unless it was reopened since. */
  resolvedAt: z.iso.datetime().nullable(),
});
export type Standing = z.output<typeof standingSchema>;

/** Null for alerts from before this was recorded: their moves are in no figure. */
export const moveFields = { was: standingSchema.nullable(), is: standingSchema.nullable() };
export interface Move {
  readonly was: Standing | null;
  readonly is: Standing | null;
}
export const unknownMove: Move = { was: null, is: null };

export const moved = (was: Standing | null, change: Partial<Standing>): Move =>
  was ? { was, is: { ...was, ...change } } : unknownMove;
