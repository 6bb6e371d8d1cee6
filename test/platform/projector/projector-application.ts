import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import { EventCodec } from '../../../src/platform/eventstore/codec.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import { PostgresEventStore } from '../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import type {
  DomainEvent,
  EventFamily,
  EventMetadata,
  Position,
  RecordedEvent,
} from '../../../src/platform/kernel/event.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import type { AnyReadModel } from '../../../src/platform/kernel/read-model.ts';
import { CatchUpSubscription } from '../../../src/platform/projector/catch-up-subscription.ts';
import { Freshness } from '../../../src/platform/projector/freshness.ts';
import { Projector } from '../../../src/platform/projector/projector.ts';
import { personKey, type Person, type PersonKeys } from '../../../src/platform/vault/vault.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';
import { sorted, TENANTS } from './ledger.ts';

export const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });

/** The keys of persons, kept in memory: a destroyed key never comes back. */
export class MemoryPersonKeys implements PersonKeys {
  readonly #keys = new Map<string, Buffer>();
  readonly #erased = new Set<string>();

  forSealing(tenantId: TenantId, personId: string): Promise<Buffer | undefined> {
    const name = personKey({ tenantId, personId });
    if (this.#erased.has(name)) return Promise.resolve(undefined);
    if (!this.#keys.has(name)) this.#keys.set(name, randomBytes(32));
    return Promise.resolve(this.#keys.get(name));
  }

  async forSealingAll(tenantId: TenantId, personIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const keys = new Map<string, Buffer>();
    for (const personId of personIds) {
      const key = await this.forSealing(tenantId, personId);
      if (key) keys.set(personId, key);
    }
    return keys;
  }

  forOpening(persons: readonly Person[]): Promise<ReadonlyMap<string, Buffer>> {
    return Promise.resolve(
      new Map(
        persons.flatMap((person) =>
          this.#keys.has(personKey(person)) ? [[personKey(person), this.#keys.get(personKey(person))!]] : [],
        ),
      ),
    );
  }

  destroy(tenantId: TenantId, personId: string): Promise<boolean> {
    const name = personKey({ tenantId, personId });
    const first = !this.#erased.has(name);
    this.#erased.add(name);
    this.#keys.delete(name);
    return Promise.resolve(first);
  }

  forget(): void {}
}

export const METADATA: EventMetadata = {
  actor: { kind: 'system', id: 'test' },
  correlationId: randomUUID(),
  causationId: randomUUID(),
  commandId: randomUUID(),
};

/** One process of the application: its own pools, store, codec and subscription on a database that may be shared. */
export interface Process {
  readonly database: Database;
  readonly store: PostgresEventStore;
  readonly codec: EventCodec;
  readonly subscription: CatchUpSubscription;
  readonly freshness: Freshness;
  /** A projector for these models; ends with the process. */
  projector(
    models: readonly AnyReadModel[],
    over?: { alone?: boolean; subscription?: CatchUpSubscription; store?: EventStore; trust?: LogTrust },
  ): Projector;
  parts(): { store: EventStore; codec: EventCodec; pool: Database['projector'] };
  /** Shuts down cleanly; skips a pool that a test has ended before. */
  close(): Promise<void>;
}

export interface ProjectorApplication extends Process {
  readonly fresh: FreshDatabase;
  /** Another process on the same database. */
  another(options?: { deaf?: boolean }): Promise<Process>;
  /** Appends to the end of a stream, at any revision. Returns the last position. */
  happen(stream: string, events: readonly DomainEvent[], tenantId?: TenantId): Promise<Position>;
  everything(): Promise<RecordedEvent[]>;
  rowsOf(table: string): Promise<Record<string, unknown>[]>;
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Waits until the only reaction has worked the events of every tenant up to this position. */
  reacted(to: Position): Promise<void>;
}

export async function openProjectorApplication(
  families: readonly EventFamily[],
  keys: PersonKeys = new MemoryPersonKeys(),
): Promise<ProjectorApplication> {
  const fresh = await freshDatabase();
  // Privileges on the database do not come with the template.
  await migrate(fresh.config);
  const processes: Process[] = [];
  const another = async ({ deaf = false } = {}): Promise<Process> => {
    const opened = await openProcess(fresh, families, keys, deaf);
    processes.push(opened);
    return opened;
  };
  const first = await another();
  const sql = async (text: string, values: unknown[] = []) =>
    (await first.database.owner.query<Record<string, unknown>>(text, values)).rows;
  return {
    ...first,
    fresh,
    another,
    sql,
    reacted: (to) =>
      eventually(`the reaction has passed ${to}`, async () => {
        const [row] = await sql(
          `select least(position, (select min(position) from tenant_backlogs))::text as p from cursors where kind = 'reaction'`,
        );
        return BigInt(row!['p'] as string) >= to;
      }),
    rowsOf: async (table) => sorted(await sql(`select * from ${table}`)),
    async happen(stream, events, tenantId = TENANTS[0]!) {
      const encoded = await Promise.all(
        events.map((event) => first.codec.encode(randomUUID(), tenantId, event, METADATA)),
      );
      for (;;) {
        const newest = (await first.store.readStreamTail(stream, 1)).at(-1)?.revision ?? -1n;
        const verdict = await first.store.append({
          tenantId,
          stream,
          expectedRevision: newest,
          events: encoded,
          claim: [],
          release: [],
        });
        if (verdict.kind === 'appended') return verdict.position;
      }
    },
    async everything() {
      const { events } = await first.store.readAll(0n, 1_000_000);
      return (await first.codec.decode(events)).filter((event) => event !== undefined);
    },
    async close() {
      await Promise.all(processes.map((one) => one.close()));
      await fresh.drop();
    },
  };
}

async function openProcess(
  fresh: FreshDatabase,
  families: readonly EventFamily[],
  keys: PersonKeys,
  deaf: boolean,
): Promise<Process> {
  const database = openDatabase(fresh.config, log, { store: 3, service: 2, projector: 5, reads: 2 });
  // Nothing listens on port 1: the process never hears what another one appends.
  const store = new PostgresEventStore(
    database.store,
    deaf ? { ...fresh.config, port: 1 } : fresh.config,
    database.projector,
  );
  const codec = new EventCodec(families, keys);
  const subscription = await CatchUpSubscription.open(store, codec, log);
  const freshness = new Freshness();
  const projectors: Projector[] = [];
  let closed: Promise<void> | undefined;
  return {
    database,
    store,
    codec,
    subscription,
    freshness,
    parts: () => ({ store, codec, pool: database.projector }),
    projector(models, over = {}) {
      const made = new Projector({
        pool: database.projector,
        store,
        codec,
        subscription,
        models,
        freshness,
        trust: new LogTrust(),
        log,
        alone: false,
        ...over,
      });
      projectors.push(made);
      return made;
    },
    close: () =>
      (closed ??= (async () => {
        await Promise.all(projectors.map((projector) => projector.stop()));
        subscription.close();
        await store.close();
        await database.close();
      })()),
  };
}

/** Waits for something that must happen; only the test runner limits the time. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  timeoutMs = 25_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`never happened: ${what}`);
    await sleep(15);
  }
}

/** True once every live checkpoint has passed the position. */
export const caughtUp = (projector: Projector, position: Position) => async (): Promise<boolean> => {
  const live = (await projector.checkpoints.all()).filter(({ state, kind }) => state === 'live' && kind === 'model');
  return live.length > 0 && live.every((checkpoint) => checkpoint.position >= position);
};
