import { z } from 'zod';
import { refuseUnlessReauthenticated } from '../kernel/fresh-proof.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Failure } from '../kernel/failure.ts';
import type { AnyDeclared, Watch } from './declaration.ts';
import type { AnyValues } from './fields.ts';

interface Silenced {
  /** The event says so, for the alert. Empty: nothing was silenced. */
  readonly mark: { readonly isSilenced?: true };
  readonly refused: Failure | undefined;
}

/** Whether a change or deletion silences the record's watch, and whether the caller may do that. */
export function silencedBy(
  { watch }: Pick<AnyDeclared, 'watch'>,
  before: AnyValues,
  after: AnyValues | undefined,
  { actor, reauthenticated }: { readonly actor: Actor; readonly reauthenticated: boolean | undefined },
): Silenced {
  if (!(watch as Watch<AnyValues> | undefined)?.silences(before, after)) return { mark: {}, refused: undefined };
  return { mark: { isSilenced: true }, refused: refuseUnlessReauthenticated(actor, reauthenticated) };
}

/** In events of records with a watch. Absent in older events, and where nothing was silenced. */
export const silencedShape = ({ watch }: Pick<AnyDeclared, 'watch'>): z.ZodRawShape =>
  watch ? { isSilenced: z.boolean().optional() } : {};

/** The values that an event holds: the mark is about the change, not about the record. */
export function withoutMark(data: AnyValues): AnyValues {
  const { isSilenced: _, ...values } = data;
  return values;
}
