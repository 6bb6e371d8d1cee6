import type { AlertType, Severity } from '../domain/vocabulary.ts';

/** One observation that led to a finding. */
export interface Occurrence {
  readonly observationId: string;
  readonly occurredAt: string;
}

/** A reason for an alert: found at least once, in one report, about one person and one domain. */
export interface Finding {
  readonly alertType: AlertType;
  /** Set by a tenant setting; otherwise the severity table decides. */
  readonly severity?: Severity | null;
  readonly title: string;
  readonly description: string;
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly domain: string | null;
  readonly url: string | null;
  /** Distinguishes findings that have the same type, person and domain. */
  readonly about?: string;
  /** In chronological order. */
  readonly occurrences: readonly [Occurrence, ...Occurrence[]];
  /** The evidence: what was seen, and under which mode and policies. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null | string[]>>;
}

/** Findings with the same type, person and domain are repetitions (choice OP-089). */
export const findingFingerprint = ({
  alertType,
  userId,
  domain,
  about,
}: Pick<Finding, 'alertType' | 'userId' | 'domain' | 'about'>): string =>
  `${alertType}|${userId ?? ''}|${domain ?? ''}${about === undefined ? '' : `|${about}`}`;
