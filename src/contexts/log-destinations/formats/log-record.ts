import type { RecordSeverity, RecordType } from '../domain/vocabulary.ts';

/** What a destination receives for an event or an observation, before it is formatted (OP-205). */
export interface LogRecord {
  /** ISO 8601 in UTC with milliseconds: when it was recorded, or observed by a browser. */
  readonly timestamp: string;
  readonly tenantId: string;
  readonly type: RecordType;
  /** The id of the event or observation. With `type` it identifies the record. */
  readonly id: string;
  readonly severity: RecordSeverity;
  /** `action` names what happened, as the audit log does. */
  readonly data: { readonly action: string } & Readonly<Record<string, unknown>>;
}

/** Turns a record into one line, without a line break at its end or within. */
export type FormatRecord = (record: LogRecord) => string;
