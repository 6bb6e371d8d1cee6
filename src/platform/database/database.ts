import pg from 'pg';
import type { Logger } from 'pino';
import { TenantPool } from './tenant-pool.ts';
import { connectionsOf } from './connections.ts';
import { PreparedStatementClient } from './prepared-statement-client.ts';
import { settingsFor, type TimeLimits } from './time-limits.ts';
import { endAbandonedSessions } from './abandoned-sessions.ts';
import { CHECKOUT_MS } from './pool-shares.ts';
import { asLogin, roleGroupOf, type DatabaseConfig, type DatabaseRole } from './logins.ts';
import { SESSION_MARK } from './session-mark.ts';

/**
 * The pools of the service, one per role. Each logs in as a role that cannot become another: a statement, even an
 * injected one, can do no more than its role may (`access-script.ts`). `owner` is only for startup and operators'
 * commands.
 */
export interface Database {
  readonly owner: pg.Pool;
  readonly store: pg.Pool;
  readonly service: TenantPool;
  readonly projector: pg.Pool;
  readonly reads: pg.Pool;
  /** For locks that are held while other pools work. */
  readonly locks: pg.Pool;
  /** All pools of roles, unwrapped. */
  readonly pools: Readonly<Record<DatabaseRole, pg.Pool>>;
  readonly config: DatabaseConfig;
  /**
   * Calls `listener` when a connection is lost, idle or in use: from then on the server may be another one, or be
   * restored to an earlier state.
   */
  onLost(listener: () => void): void;
  close(): Promise<void>;
}

export interface PoolSizes {
  readonly owner?: number;
  readonly store?: number;
  readonly service?: number;
  readonly projector?: number;
  readonly reads?: number;
  readonly locks?: number;
}

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const DATE = 1082;

/**
 * Converts `2026-11-21 02:00:00.1+00` (the session runs in UTC) to ISO 8601 with milliseconds, without creating a
 * Date.
 */
export function isoTimestamp(text: string): string {
  if (!text.endsWith('+00')) return text; // ±infinity
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const fraction = text.length > 22 ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000';
  return `${seconds}.${fraction}Z`;
}

const parsers = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, isoTimestamp],
  [INT8, Number], // counters; callers that need all 64 bits, for positions, select them as text
  [DATE, (text) => text],
]);

/** Type parsers of these pools only: global parsers stay unchanged. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    format === 'binary' ? pg.types.getTypeParser(oid, format) : (parsers.get(oid) ?? parserOf(oid)),
};

/** Cached, because it is called for every column of every result. */
function parserOf(oid: number): (text: string) => unknown {
  const parser = pg.types.getTypeParser(oid, 'text') as (text: string) => unknown;
  parsers.set(oid, parser);
  return parser;
}

/**
 * Projector settings. A projection that a crash undoes is folded again from its checkpoint, so its commits need not
 * wait for the disk. Its statements take a page as one parameter. They are planned once, for index reads, for a
 * table that may be empty now and large later. Every search reads the pending list of a text index in full, so that
 * list is kept to a few pages instead of four megabytes.
 */
const PROJECTOR = [
  'synchronous_commit=off',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_sort=off',
  'enable_incremental_sort=off',
  'max_parallel_workers_per_gather=0',
  'gin_pending_list_limit=256kB',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/**
 * Statements are short: compiling one takes PostgreSQL longer than running it. Servers up to version 17 would compile
 * most of the projector's, as the kinds of plan that it turns off count as very expensive where there is no other.
 */
const SESSION = '-c TimeZone=UTC -c jit=off';

/** Its statements, and those within its functions, may be planned while the log is empty and used when it is long. */
const STORE = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

/**
 * Limits per pool for a statement, a wait for a lock, and a pause within a transaction, in milliseconds. A node that
 * freezes with an open transaction holds its locks no longer than that pause. Operators' commands (rebuilds,
 * comparisons) run without the projector's limits.
 */
const LIMITS = {
  owner: { statement: 0, lock: 0, idleInTransaction: 60_000 },
  store: { statement: 10_000, lock: 5_000, idleInTransaction: 5_000 },
  service: { statement: 5_000, lock: 3_000, idleInTransaction: 5_000 },
  projector: { statement: 15_000, lock: 5_000, idleInTransaction: 5_000 },
  reads: { statement: 10_000, lock: 3_000, idleInTransaction: 5_000 },
  // Longer than a request may take: the pause is that of the work under the lock.
  locks: { statement: 5_000, lock: 3_000, idleInTransaction: 15_000 },
} as const satisfies Record<string, TimeLimits>;
const UNLIMITED: TimeLimits = { statement: 0, lock: 0, idleInTransaction: 0 };

/** Idle connections of a pool that stay open: they show when a server goes away (`onLost`). */
const KEPT_OPEN = 3;

/** Defaults: those of a process of role `all`. */
const SIZES = connectionsOf('all', { redis: false });

export interface DatabaseOptions extends PoolSizes {
  /** For operators' commands: a rebuild's statements have no time limit. */
  readonly patient?: boolean;
}

export function openDatabase(config: DatabaseConfig, log: Logger, sizes: DatabaseOptions = {}): Database {
  // `pool.end()` does not wait until its connections have closed. If the server stops right after it, they report
  // errors.
  let closing = false;
  const listeners = new Set<() => void>();
  const lost = () => {
    if (!closing) for (const listener of listeners) listener();
  };
  const pool = (role: DatabaseRole | undefined, max: number, limits: TimeLimits, extra = '', pipeline = false) => {
    const settings = [SESSION, SESSION_MARK, extra].filter(Boolean).join(' ');
    const { logins: _, ...owner } = config;
    const opened = new pg.Pool({
      ...(role
        ? asLogin(config, role, settings)
        : { ...owner, options: [config.options, settings].filter(Boolean).join(' ') }),
      ...settingsFor(sizes.patient ? UNLIMITED : limits),
      Client: PreparedStatementClient,
      max,
      // The owner's are for the start and for operators' commands.
      min: role ? Math.min(KEPT_OPEN, max >> 1) : 0,
      pipeline,
      types: types as pg.CustomTypesConfig,
      application_name: `castellan/${role ? roleGroupOf(role) : 'owner'}`,
      idleTimeoutMillis: 60_000,
      // For connections that stay open: keeps them in the tables of firewalls and proxies, and detects a dead peer.
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: CHECKOUT_MS,
    });
    opened.on(
      'error',
      (error) => closing || log.warn({ role, message: error.message }, 'an idle database connection was lost'),
    );
    // The pool listens for errors only while a connection is idle. An error while it is checked out must not end the
    // process.
    opened.on('connect', (client) => client.on('error', lost));
    endAbandonedSessions(opened);
    return opened;
  };
  const opened = {
    owner: pool(undefined, sizes.owner ?? SIZES.owner, LIMITS.owner),
    store: pool('store', sizes.store ?? SIZES.store, LIMITS.store, STORE),
    service: pool('service', sizes.service ?? SIZES.service, LIMITS.service, '', true),
    projector: pool('projector', sizes.projector ?? SIZES.projector, LIMITS.projector, PROJECTOR, true),
    reads: pool('reads', sizes.reads ?? SIZES.reads, LIMITS.reads, '-c default_transaction_read_only=on', true),
  };
  const locks = pool('service', sizes.locks ?? SIZES.locks, LIMITS.locks);
  return {
    ...opened,
    locks,
    service: new TenantPool(opened.service),
    pools: opened,
    config,
    onLost: (listener) => void listeners.add(listener),
    close: async () => {
      closing = true;
      await Promise.all([...Object.values(opened), locks].filter(({ ended }) => !ended).map((one) => one.end()));
    },
  };
}
