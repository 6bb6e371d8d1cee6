import { z } from 'zod';
import { isUuid } from '../../../platform/kernel/ids.ts';
import type { Observation } from './observation.ts';
import { readReported } from './reported-observation.ts';
import { findSecret, secretWord } from '../../../platform/web-addresses/secret-tripwire.ts';

/** Choice OP-153. */
export const MAX_BATCH_SIZE = 500;
const MAX_AHEAD_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** Limit for the only kind whose lists could exceed the size of an event. */
const MAX_CHARACTERS = 128 * 1024;

export interface Rejection {
  readonly index: number;
  readonly eventId: string | null;
  readonly error: string;
}

/** The result of admission: observations to record, by UTC day, and the rejected ones. */
export interface TelemetryAdmission {
  readonly days: ReadonlyMap<string, readonly Observation[]>;
  /** Number of observations that occur twice in the batch. */
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
  /** The words by which forbidden fields were recognized. */
  readonly secretWords: readonly string[];
  /** Index in the batch of each admitted observation. */
  readonly indexOf: ReadonlyMap<string, number>;
}

export interface TelemetryAdmissionRules {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Maximum age of an observation in days: `acceptedDays` of the log's retention. */
  readonly days: number;
  /** Converts a schema error into a message. */
  readonly explain: (error: z.ZodError) => string;
}

/**
 * Maximum age in days of accepted telemetry, given the retention. It is one day less, because a device's clock may be a
 * day ahead. So the stream with a first copy still exists for everything that is accepted.
 */
export const acceptedDays = (keptDays: number): number => Math.max(1, keptDays - 1);

/** Validates a batch item by item (choice OP-153): one invalid observation does not affect the others. */
export function admitBatch(items: readonly unknown[], rules: TelemetryAdmissionRules): TelemetryAdmission {
  const admitted = new AdmittedBatch(rules);
  for (const item of items) admitted.take(item);
  return admitted;
}

/** The items admitted so far. The caller may yield to the event loop between items of a large batch. */
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

  /** Validates the next item of the batch. */
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
