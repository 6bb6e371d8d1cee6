import type pg from 'pg';
import type { EventStore } from '../../../platform/eventstore/port.ts';
import type { CopyRecord } from './copy-record.ts';
import type { TenantHashes } from './tenant-hashes.ts';

export interface CopyParts {
  readonly source: EventStore;
  /** The owner role of the database: only it may write events differently from the service. */
  readonly owner: pg.Pool;
  /** False for telemetry, which expires. */
  readonly isLasting: (type: string) => boolean;
}

/** A copy of a log into another store. Each step is recorded, so that an interrupted copy resumes where it stopped. */
export interface LogCopy {
  readonly target: EventStore;
  readonly record: CopyRecord;
  readonly hashes: TenantHashes;
  /** Copies the next page and compares it with what the target returns. Returns false at the end of the log. */
  step(): Promise<boolean>;
  /** Copies claims and retention, which are not events. Returns how many claims have to wait for events. */
  settle(): Promise<number>;
}
