import type { Logger } from 'pino';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { ExecutionContext } from '../../platform/execution/execution-context.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { ProvisioningSource } from '../employees/domain/provisioning.ts';
import type { DirectoryReaders } from './open-reader.ts';

/** What synchronizations use. */
export interface SyncPorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute' | 'executeAll' | 'claimHolders'>;
  readonly aggregates: AggregateReader;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly readers: Pick<DirectoryReaders, 'open'>;
  readonly pool: TenantPool;
  reads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
  accountDigest(email: string): string;
  readonly log: Logger;
}

/** One synchronization, as its parts see it. */
export interface SyncRun {
  readonly tenantId: TenantId;
  readonly sourceId: string;
  readonly syncId: string;
  readonly source: ProvisioningSource;
  readonly execution: ExecutionContext;
  readonly signal: AbortSignal;
}
