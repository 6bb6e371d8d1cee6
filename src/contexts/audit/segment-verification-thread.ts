// Runs in its own thread: see `threads/thread.ts`.
import pino from 'pino';
import { openDatabase } from '../../platform/database/database.ts';
import type { DatabaseConfig } from '../../platform/database/logins.ts';
import { tenantReads } from '../../platform/database/tenant-reads.ts';
import { ChainKey } from './domain/chain-key.ts';
import type { AuditTerms } from './domain/vocabulary.ts';
import { openLog } from '../../platform/eventstore/open-log.ts';
import type { LogAddress } from '../../platform/eventstore/port.ts';
import { serveThread } from '../../platform/threads/thread-server.ts';
import { AuditTable } from './audit-table.ts';
import { verifySegment, type ChainSegment, type SegmentResult } from './segment-verification.ts';

export interface SegmentThreadData {
  readonly log: LogAddress;
  /** The database of the read models. */
  readonly database: DatabaseConfig;
  readonly auditKey: Uint8Array;
  readonly words: ReadonlyMap<string, AuditTerms>;
}

serveThread(({ log: address, database, auditKey, words }: SegmentThreadData) => {
  // Errors are returned to the caller, which logs them.
  const log = pino({ level: 'silent' });
  const { ordinary: reads } = tenantReads(openDatabase(database, log, { reads: 1 }).reads);
  const source = {
    store: openLog(address, log),
    key: new ChainKey(Buffer.from(auditKey)),
    words,
  };
  return (segment: ChainSegment): Promise<SegmentResult> =>
    verifySegment(source, new AuditTable(reads(segment.tenantId)), segment);
});
