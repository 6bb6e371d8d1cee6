import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import type { ServiceContainer } from '../../../src/app/compose/service-container.ts';
import { ChainKey } from '../../../src/contexts/audit/domain/chain-key.ts';
import { SharedRuns } from '../../../src/contexts/audit/shared-runs.ts';
import { tenantReads } from '../../../src/platform/database/tenant-reads.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import { openAuditedVault } from './audited-vault.ts';

/** An application with audit chains, and what a sealer of their heads needs, for the tests of the calling suite. */
export async function openSealing() {
  const application = await openAuditedVault();
  const dataDir = mkdtempSync('/tmp/castellan-seals-');
  afterAll(async () => {
    rmSync(dataDir, { recursive: true, force: true });
    await application.close();
  });
  const { store, codec, database, families } = application;
  const loader = new AggregateLoader(store, codec);
  const executor = new Executor(
    store,
    codec,
    loader,
    (value) => value,
    () => ({ ports: {}, compensate: async () => {} }),
  );
  const services = {
    store,
    database,
    families,
    reads: tenantReads(database.reads).ordinary,
    projector: { livePositions: async () => new Map([['audit_log', await store.head()]]) },
    loader,
    executor,
    config: { dataDir },
    chainKey: new ChainKey(application.auditKey),
    verifications: new SharedRuns(),
    log: pino({ level: 'silent' }),
    trust: new LogTrust(),
  } as unknown as ServiceContainer;
  return { application, dataDir, path: join(dataDir, 'audit-heads.jsonl'), executor, services };
}
