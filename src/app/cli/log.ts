import { chainOwners, type ChainOwnersDependencies } from '../../contexts/audit/chain-owners.ts';
import { evidenceOf, verifyChain, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import { PostgresEventStore } from '../../platform/eventstore/postgres/postgres-event-store.ts';
import { FailureError, conflict } from '../../platform/kernel/failure.ts';
import { CopyFrom } from '../../contexts/installation/log-copy/copy-from.ts';
import { clearRecord, copyRecord, type Direction } from '../../contexts/installation/log-copy/copy-record.ts';
import { CopyTo } from '../../contexts/installation/log-copy/copy-to.ts';
import type { CopyParts, LogCopy } from '../../contexts/installation/log-copy/log-copy.ts';
import { unsealLog } from '../../contexts/installation/log-copy/moved-log.ts';
import { switchLog } from '../../contexts/installation/log-copy/switch.ts';
import { sayVerdict, verdictOf, type ChainVerdict } from './chain-verdict.ts';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';

export interface LogCliDependencies extends ChainOwnersDependencies, VerifyDependencies {
  readonly log: Logger;
  readonly database: Database;
  readonly store: EventStore;
  readonly codec: EventCodec;
}

const SAY_EVERY_MS = 2_000;

export interface CopyEndpoints {
  readonly direction: Direction;
  readonly url: string;
}

/** Opens a copy whose source is the services' own store. `close` closes the stores that it opened. */
export async function openLogCopy(
  services: LogCliDependencies,
  { direction, url }: CopyEndpoints,
): Promise<{ copy: LogCopy; parts: CopyParts; close: () => Promise<void> }> {
  const { database, codec, store } = services;
  const parts: CopyParts = { source: store, owner: database.owner, isLasting: (type) => codec.isLasting(type) };
  // Loaded only here: its client takes longer to load than most commands run.
  const { EventStoreDbEventStore } = await import('../../platform/eventstore/eventstoredb/eventstoredb-event-store.ts');
  const server = new EventStoreDbEventStore(url, { warn: (message) => services.log.warn(message) });
  const own = new PostgresEventStore(database.store, database.config);
  const close = async () => void (await Promise.all([server.close(), own.close()]));
  try {
    const copy =
      direction === 'to' ? await CopyTo.open(parts, server, url) : await CopyFrom.open(parts, server, own, url);
    return { copy, parts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface CopiedLog {
  readonly events: number;
  readonly tenants: readonly { readonly tenantId: string; readonly events: number; readonly sha256: string }[];
  /** Verdicts on the audit chains of the new log. Empty until the copy is finished. */
  readonly chains: readonly ChainVerdict[];
}

/** Copies the existing events. With `finish`, also verifies the copy and makes it the log of this installation. */
export async function copyLog(
  services: LogCliDependencies,
  endpoints: CopyEndpoints,
  finish: boolean,
  say: (line: string) => void,
): Promise<CopiedLog> {
  const { copy, parts, close } = await openLogCopy(services, endpoints);
  try {
    await copyPages(services, copy, say);
    if (!finish) await copy.settle();
    else await switchLog(copy, parts);
    const tenants = [...copy.hashes.all]
      .sort()
      .map(([tenantId, { events, hash }]) => ({ tenantId, events, sha256: hash.toString('hex') }));
    for (const { tenantId, events, sha256 } of tenants) say(`same    ${tenantId}: ${events} events, sha256 ${sha256}`);
    const { events } = copy.record;
    if (finish) return { events, tenants, chains: await verifyChains({ ...services, store: copy.target }, say) };
    say(
      `${events} events copied. Repeat this to copy what has come since; stop the service and add --finish to switch.`,
    );
    return { events, tenants, chains: [] };
  } finally {
    await close();
  }
}

async function copyPages({ store }: LogCliDependencies, copy: LogCopy, say: (line: string) => void): Promise<void> {
  let said = Date.now();
  while (await copy.step()) {
    if (Date.now() - said < SAY_EVERY_MS) continue;
    said = Date.now();
    const { events, sourcePosition } = copy.record;
    // Read again, because the service keeps writing.
    const head = await store.head();
    say(`${events} events copied, position ${sourcePosition} of ${head} (${percent(sourcePosition, head)} %)`);
  }
}

const percent = (position: bigint, head: bigint): number =>
  head === 0n ? 100 : Math.min(100, Number((position * 100n) / head));

async function verifyChains(services: LogCliDependencies, say: (line: string) => void): Promise<ChainVerdict[]> {
  const verdicts: ChainVerdict[] = [];
  for (const owner of await chainOwners(services)) {
    const verdict = verdictOf(owner, await verifyChain(evidenceOf(services), owner.id));
    sayVerdict(verdict, 'audit entries', say);
    verdicts.push(verdict);
  }
  return verdicts;
}

/** Abandons a copy that has not been finished. The service keeps its log. */
export async function abandonLogCopy(services: LogCliDependencies): Promise<void> {
  const { owner } = services.database;
  const record = await copyRecord(owner);
  if (!record) throw new FailureError(conflict('command_refused', 'no copy has been started'));
  if (record.isFinished)
    throw new FailureError(
      conflict(
        'command_refused',
        `the copy ${record.direction} ${record.servers} has been finished: the way back is a copy in the other direction`,
      ),
    );
  await clearRecord(owner);
  if (record.direction === 'to') await unsealLog(owner);
  else await owner.query('truncate events, claims, stream_retention');
}

/** Deletes the log that stayed in PostgreSQL after the switch to EventStoreDB. */
export async function discardCopiedLog(services: LogCliDependencies): Promise<void> {
  const { owner } = services.database;
  const record = await copyRecord(owner);
  if (!record?.isFinished || record.direction !== 'to')
    throw new FailureError(conflict('command_refused', 'the log in PostgreSQL has not been moved to EventStoreDB'));
  await owner.query('truncate events, claims, stream_retention');
}
