// Runs in a thread of its own: see `threads/thread.ts`.
import pino from 'pino';
import { openDatabase } from '../database/database.ts';
import type { DatabaseConfig } from '../database/logins.ts';
import { tenantReads } from '../database/tenant-reads.ts';
import { ChainKey } from '../domain/audit/chain-key.ts';
import type { AuditWords } from '../domain/audit/vocabulary.ts';
import { PostgresEventStore } from '../eventstore/postgres/postgres-event-store.ts';
import { answerQuestions } from '../threads/answer-questions.ts';
import { AuditTable } from './audit-table.ts';
import { walk, type Stretch, type Walked } from './walk.ts';

export interface WalkerData {
  readonly database: DatabaseConfig;
  readonly auditKey: Uint8Array;
  readonly words: ReadonlyMap<string, AuditWords>;
}

answerQuestions(({ database: config, auditKey, words }: WalkerData) => {
  // What goes wrong is told to who asked.
  const database = openDatabase(config, pino({ level: 'silent' }), { store: 1, reads: 1 });
  const { ordinary: reads } = tenantReads(database.reads);
  const source = {
    store: new PostgresEventStore(database.store, config),
    key: new ChainKey(Buffer.from(auditKey)),
    words,
  };
  return (stretch: Stretch): Promise<Walked> => walk(source, new AuditTable(reads(stretch.tenantId)), stretch);
});
