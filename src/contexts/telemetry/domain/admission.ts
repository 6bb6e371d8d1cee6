import { z } from 'zod';
import { brokenTextsIn } from '../../../platform/kernel/broken-text.ts';
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

/** Why an event is rejected, for programs. Stable: an extension may branch on it. */
export const rejectionCodes = [
  'validation_failed',
  'broken_text',
  'secret_field',
  'clock_ahead',
  'too_old',
  'too_large',
  'unknown_wipe',
  'daily_limit',
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

export interface Reason {
  readonly error: string;
  /** The first wrong field; null if it is the event as a whole. */
  readonly field: string | null;
}

export interface Rejection extends Reason {
  readonly index: number;
  readonly eventId: string | null;
  readonly code: RejectionCode;
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
  /** The device's wipe that is pending or has just ended. Undefined: none. */
  readonly wipeId: string | undefined;
  /** Converts a schema error into a message. */
  readonly explain: (error: z.ZodError) => Reason;
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
    const judged = this.#secretIn(item) ?? judge(item, this.#rules);
    if ('error' in judged) this.rejected.push({ index, eventId: idOf(item), ...judged });
    else if (this.indexOf.has(judged.eventId)) this.duplicates += 1;
    else this.#admit(judged, index);
  }

  #secretIn(item: unknown): Refusal | undefined {
    const secret = findSecret(item);
    if (secret === undefined) return undefined;
    const word = secretWord(secret);
    if (word !== undefined) this.#secretWords.add(word);
    const isDigest = /(?:^|\.)passwordHash$/.test(secret);
    return refused('secret_field', secret, isDigest ? 'must be 64 hexadecimal digits' : 'must not be sent');
  }

  #admit(observation: Observation, index: number): void {
    const day = observation.occurredAt.slice(0, 10);
    this.indexOf.set(observation.eventId, index);
    const known = this.days.get(day);
    if (known) known.push(observation);
    else this.days.set(day, [observation]);
  }
}

function judge(item: unknown, { now, days, wipeId, explain }: TelemetryAdmissionRules): Observation | Refusal {
  const [broken] = brokenTextsIn(item);
  if (broken !== undefined) return refused('broken_text', broken || 'event', 'contains characters that are not text');
  const read = readReported(item);
  if (read instanceof z.ZodError) return { code: 'validation_failed', ...explain(read) };
  const occurredAt = Date.parse(read.occurredAt);
  if (occurredAt > now + MAX_AHEAD_MS)
    return refused('clock_ahead', 'occurredAt', 'must not be more than 24 hours ahead');
  if (occurredAt < now - days * DAY_MS) return refused('too_old', 'occurredAt', 'is older than telemetry is kept');
  if (read.kind === 'extension_inventory' && JSON.stringify(read).length > MAX_CHARACTERS)
    return refused('too_large', 'data', 'is too large');
  if (read.kind === 'wipe_completed' && read.wipeId !== wipeId)
    return refused('unknown_wipe', 'data.wipeId', 'is not the id of a wipe of this device');
  return read;
}

type Refusal = Omit<Rejection, 'index' | 'eventId'>;

const refused = (code: RejectionCode, field: string, reason: string): Refusal => ({
  code,
  error: `validation failed: ${field}: ${reason}`,
  field,
});

function idOf(item: unknown): string | null {
  const { eventId } = (item ?? {}) as { eventId?: unknown };
  return isUuid(eventId) ? eventId.toLowerCase() : null;
}
