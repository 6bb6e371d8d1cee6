import pg from 'pg';
import type { Logger } from 'pino';
import { TenantPool } from './tenant-pool.ts';
import { gatheringSocket } from './gathering-socket.ts';
import { LeanClient } from './lean-client.ts';
import { settingsFor, type TimeLimits } from './patience.ts';
import { ReadyPool } from './ready-pool.ts';
import { CHECKOUT_MS } from './pool-shares.ts';
import { DatabaseSilent } from './unavailable.ts';

/**
 * The pools that the house works through, one for each role: a statement can do no more than its role may
 * (`migrations/001_roles.sql`). `owner` is for migrations and for operators' commands alone.
 */
export interface Database {
  readonly owner: pg.Pool;
  readonly store: pg.Pool;
  readonly service: TenantPool;
  readonly projector: pg.Pool;
  readonly reads: pg.Pool;
  readonly config: pg.ClientConfig;
  /** Calls back when a connection was lost, idle or in use: the server may be another one, or an older one, from then on. */
  onLost(heard: () => void): void;
  close(): Promise<void>;
}

export interface PoolSizes {
  readonly owner?: number;
  readonly store?: number;
  readonly service?: number;
  readonly projector?: number;
  readonly reads?: number;
}

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const DATE = 1082;

/** `2026-11-21 02:00:00.1+00` (the session runs in UTC) as ISO 8601 with milliseconds, without a Date in between. */
export function isoTimestamp(text: string): string {
  if (!text.endsWith('+00')) return text; // ±infinity
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const fraction = text.length > 22 ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000';
  return `${seconds}.${fraction}Z`;
}

const parsers = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, isoTimestamp],
  [INT8, Number], // counters; positions are read as text by those who need all 64 bits
  [DATE, (text) => text],
]);

/** Type parsers of our pools alone: nothing global is changed. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (format === 'binary' ? pg.types.getTypeParser(oid, format) : (parsers.get(oid) ?? parserOf(oid))),
};

/** Asked for every column of every answer. */
function parserOf(oid: number): (text: string) => unknown {
  const parser = pg.types.getTypeParser(oid, 'text') as (text: string) => unknown;
  parsers.set(oid, parser);
  return parser;
}

/**
 * A projection that a crash undoes is folded again from its checkpoint, so its commits need not wait for the disk. Its statements
 * take a page as one JSON text: they are planned once, for index reads, for a table that may be empty now and large tomorrow.
 * What waits to be sorted into a text index is read whole by every search: a few pages of it, not four megabytes.
 */
const PROJECTOR = ['synchronous_commit=off', 'plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'gin_pending_list_limit=256kB']
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Its statements, and those within its functions, may be planned while the log is empty, and serve when it is long. */
const STORE = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

/**
 * What a statement, a wait for a lock and a pause within a transaction may take, by pool. A node that froze with a transaction
 * open holds its locks no longer than that pause. Operators' commands (rebuilds, comparisons) have none of the projector's limits.
 */
const LIMITS = {
  owner: { statement: 0, lock: 0, idleInTransaction: 60_000 },
  store: { statement: 10_000, lock: 5_000, idleInTransaction: 5_000 },
  service: { statement: 5_000, lock: 3_000, idleInTransaction: 5_000 },
  projector: { statement: 15_000, lock: 5_000, idleInTransaction: 5_000 },
  reads: { statement: 10_000, lock: 3_000, idleInTransaction: 5_000 },
} as const satisfies Record<string, TimeLimits>;
const PATIENT: TimeLimits = { statement: 0, lock: 0, idleInTransaction: 0 };

export interface DatabaseOptions extends PoolSizes {
  /** For operators' commands: a rebuild's statements take as long as they take. */
  readonly patient?: boolean;
}

export function openDatabase(config: pg.ClientConfig, log: Logger, sizes: DatabaseOptions = {}): Database {
  // A pool's end does not wait for the goodbyes of its connections: a server that stops right behind it cuts them short.
  let closing = false;
  const listeners = new Set<() => void>();
  const lost = () => {
    if (!closing) for (const heard of listeners) heard();
  };
  const pool = (role: string | undefined, max: number, limits: TimeLimits, extra = '', pipeline = false) => {
    const options = [config.options, '-c TimeZone=UTC', role && `-c role=${role}`, extra].filter(Boolean).join(' ');
    const opened = new ReadyPool({
      ...config,
      ...settingsFor(sizes.patient ? PATIENT : limits),
      Client: LeanClient,
      options,
      max,
      pipeline,
      stream: gatheringSocket,
      types: types as pg.CustomTypesConfig,
      application_name: `castellan/${role ?? 'owner'}`,
      idleTimeoutMillis: 60_000,
      // Some stay open however long they are idle: what stands in between shall not forget them, and a dead peer is found out.
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: CHECKOUT_MS,
    });
    opened.on('error', (error) => closing || log.warn({ role, message: error.message }, 'an idle database connection was lost'));
    // The pool listens only while a connection is idle; one that dies in somebody's hands must not end the process.
    opened.on('connect', (client) =>
      client.on('error', (error) => {
        lost();
        if (error instanceof DatabaseSilent) opened.forgetIdle();
      }),
    );
    return opened;
  };
  const opened = {
    owner: pool(undefined, sizes.owner ?? 2, LIMITS.owner),
    store: pool('castellan_store', sizes.store ?? 5, LIMITS.store, STORE),
    service: pool('castellan_service', sizes.service ?? 8, LIMITS.service, '', true),
    projector: pool('castellan_projector', sizes.projector ?? 6, LIMITS.projector, PROJECTOR, true),
    reads: pool('castellan_reads', sizes.reads ?? 10, LIMITS.reads, '-c default_transaction_read_only=on', true),
  };
  return {
    ...opened,
    service: new TenantPool(opened.service),
    config,
    onLost: (heard) => void listeners.add(heard),
    close: async () => {
      closing = true;
      await Promise.all(Object.values(opened).filter(({ ended }) => !ended).map((one) => one.end()));
    },
  };
}
