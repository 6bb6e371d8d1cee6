import type pg from 'pg';
import type { EventStore } from '../../../platform/eventstore/port.ts';
import type { CopyRecord } from './copy-record.ts';
import type { TenantHashes } from './tenant-hashes.ts';

export interface CopyParts {
  readonly source: EventStore;
  /** The database's owner: the only one who may write events in another way than the service does. */
  readonly owner: pg.Pool;
  /** False for telemetry, which expires. */
  readonly isLasting: (type: string) => boolean;
}

/** A copy of a log into another store. Each step is noted down: a copy that was interrupted goes on where it stopped. */
export interface LogCopy {
  readonly target: EventStore;
  readonly record: CopyRecord;
  readonly hashes: TenantHashes;
  /** Copies the next page and compares what the target returns for it. False at the end of the log. */
  step(): Promise<boolean>;
  /** Brings over what is no event: claims and retention. Returns how many claims have to wait for events. */
  settle(): Promise<number>;
}
