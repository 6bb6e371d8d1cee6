import { z } from 'zod';
import { isUuid } from '../../../platform/kernel/ids.ts';
import type { Observation } from './observation.ts';
import { readReported } from './reported-observation.ts';
import { findSecret, secretWord } from '../../../platform/web-addresses/secret-tripwire.ts';

/** Choice OP-153. */
export const MAX_BATCH_SIZE = 500;
const MAX_AHEAD_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** Of the one kind whose lists could make it larger than an event may be. */
const MAX_CHARACTERS = 128 * 1024;

export interface Rejection {
  readonly index: number;
  readonly eventId: string | null;
  readonly error: string;
}

/** What may be recorded, by UTC day, and what may not. */
export interface TelemetryAdmission {
  readonly days: ReadonlyMap<string, readonly Observation[]>;
  /** Observations that the batch holds twice. */
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
  /** What fields that must not be sent sounded like. */
  readonly secretWords: readonly string[];
  /** Where in the batch an admitted observation stood. */
  readonly indexOf: ReadonlyMap<string, number>;
}

export interface TelemetryAdmissionRules {
  /** Epoch milliseconds. */
  readonly now: number;
  /** How many days back an observation may lie: `acceptedDays` of what the log keeps. */
  readonly days: number;
  /** Words for what a schema found wrong. */
  readonly explain: (error: z.ZodError) => string;
}

/**
 * Days for which telemetry is taken in, of those for which it is kept. One day less, as a device's clock may be a day
 * ahead: whatever is taken in meets the stream in which a first copy of it would still stand.
 */
export const acceptedDays = (keptDays: number): number => Math.max(1, keptDays - 1);

/** Judges a batch item by item (choice OP-153): one bad observation does not cost the others. */
export function admitBatch(items: readonly unknown[], rules: TelemetryAdmissionRules): TelemetryAdmission {
  const admitted = new AdmittedBatch(rules);
  for (const item of items) admitted.take(item);
  return admitted;
}

/** What was admitted of a batch so far: whoever judges a large one may let others have their turn in between. */
export class AdmittedBatch implements TelemetryAdmission {
  readonly days = new Map<string, Observation[]>();
  readonly indexOf = new Map<string, number>();
  readonly rejected: Rejection[] = [];
  duplicates = 0;
  readonly #rules: TelemetryAdmissionRules;
  readonly #secretWords = new Set<string>();
  #taken = 0;

  constructor(rules: TelemetryAdmissionRules) {
    this.#rules = rules;
  }

  get secretWords(): readonly string[] {
    return [...this.#secretWords];
  }

  /** The next item. */
  take(item: unknown): void {
    const index = this.#taken++;
    const secret = findSecret(item);
    if (secret !== undefined) {
      const word = secretWord(secret);
      if (word !== undefined) this.#secretWords.add(word);
      this.rejected.push({ index, eventId: idOf(item), error: refused(secret, 'must not be sent') });
      return;
    }
    const judged = judge(item, this.#rules);
    if (typeof judged === 'string') this.rejected.push({ index, eventId: idOf(item), error: judged });
    else if (this.indexOf.has(judged.eventId)) this.duplicates += 1;
    else this.#admit(judged, index);
  }

  #admit(observation: Observation, index: number): void {
    const day = observation.occurredAt.slice(0, 10);
    this.indexOf.set(observation.eventId, index);
    const known = this.days.get(day);
    if (known) known.push(observation);
    else this.days.set(day, [observation]);
  }
}

function judge(item: unknown, { now, days, explain }: TelemetryAdmissionRules): Observation | string {
  const read = readReported(item);
  if (read instanceof z.ZodError) return explain(read);
  const occurredAt = Date.parse(read.occurredAt);
  if (occurredAt > now + MAX_AHEAD_MS) return refused('occurredAt', 'must not be more than 24 hours ahead');
  if (occurredAt < now - days * DAY_MS) return refused('occurredAt', 'is older than telemetry is kept');
  if (read.kind === 'extension_inventory' && JSON.stringify(read).length > MAX_CHARACTERS)
    return refused('data', 'is too large');
  return read;
}

const refused = (field: string, reason: string): string => `validation failed: ${field}: ${reason}`;

function idOf(item: unknown): string | null {
  const { eventId } = (item ?? {}) as { eventId?: unknown };
  return isUuid(eventId) ? eventId.toLowerCase() : null;
}
