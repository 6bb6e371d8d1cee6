// Runs in a thread of its own: see `threads/thread.ts`.
import pino from 'pino';
import { openDatabase } from '../../platform/database/database.ts';
import type { DatabaseConfig } from '../../platform/database/logins.ts';
import { tenantReads } from '../../platform/database/tenant-reads.ts';
import { ChainKey } from './domain/chain-key.ts';
import type { AuditWords } from './domain/vocabulary.ts';
import { openFeed } from '../../platform/eventstore/open-feed.ts';
import type { FeedAddress } from '../../platform/eventstore/port.ts';
import { answerQuestions } from '../../platform/threads/answer-questions.ts';
import { AuditTable } from './audit-table.ts';
import { walk, type Stretch, type Walked } from './walk.ts';

export interface WalkerData {
  readonly feed: FeedAddress;
  /** Of the read models. */
  readonly database: DatabaseConfig;
  readonly auditKey: Uint8Array;
  readonly words: ReadonlyMap<string, AuditWords>;
}

answerQuestions(({ feed, database, auditKey, words }: WalkerData) => {
  // Errors are returned to the caller, who logs them.
  const log = pino({ level: 'silent' });
  const { ordinary: reads } = tenantReads(openDatabase(database, log, { reads: 1 }).reads);
  const source = {
    store: openFeed(feed, log),
    key: new ChainKey(Buffer.from(auditKey)),
    words,
  };
  return (stretch: Stretch): Promise<Walked> => walk(source, new AuditTable(reads(stretch.tenantId)), stretch);
});
