import type { AlertType, Severity } from '../domain/vocabulary.ts';

/** One observation in which something was found. */
export interface Occurrence {
  readonly observationId: string;
  readonly occurredAt: string;
}

/** What deserves an alert: found at least once in one report about one person and one domain. */
export interface Finding {
  readonly alertType: AlertType;
  /** Where a setting says so; otherwise it is the severity table's. */
  readonly severity?: Severity | null;
  readonly title: string;
  readonly description: string;
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly domain: string | null;
  readonly url: string | null;
  /** What it is about, where type, person and domain do not say it. */
  readonly about?: string;
  /** In the order in which they happened. */
  readonly occurrences: readonly [Occurrence, ...Occurrence[]];
  /** Why: what was seen, and under which mode and policies. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null | string[]>>;
}

/** What repeats is the same type, person and domain (choice OP-089). */
export const findingFingerprint = ({
  alertType,
  userId,
  domain,
  about,
}: Pick<Finding, 'alertType' | 'userId' | 'domain' | 'about'>): string =>
  `${alertType}|${userId ?? ''}|${domain ?? ''}${about === undefined ? '' : `|${about}`}`;
