import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { scratchFolder } from '../../dsl/scratch.ts';
import { freePort } from '../../dsl/free-port.ts';
import { isRunning } from '../../platform/embedded/process.ts';
import { childrenOf, endTracked, signal, startTracked, type Tracked } from './child-processes.ts';
import { isRoot, postgresPrograms } from './programs.ts';
import { Hopeless, until } from './until.ts';

export type Settings = Readonly<Record<string, string | number>>;

/**
 * The role that owns the service's database: no superuser, so that it does not use the connections reserved for one.
 */
const OWNER = 'castellan_owner';
const PASSWORD = 'faults';
const START_MS = 30_000;

const USUAL: Settings = {
  listen_addresses: "'127.0.0.1'",
  max_connections: 250,
  shared_buffers: "'32MB'",
  wal_level: 'replica',
  wal_keep_size: "'64MB'",
  // Commits that do not wait for the disk stay in memory for this long: a crash undoes them.
  wal_writer_delay: "'2s'",
  log_line_prefix: "'%m [%p] '",
};

interface ClusterOptions {
  readonly settings?: Settings;
  /** An existing empty folder for the data, e.g. a small file system; by default a scratch folder. */
  readonly folder?: string;
  readonly initdb?: readonly string[];
}

const run = promisify(execFile);

function postgresAccount(): { uid: number; gid: number } | undefined {
  if (!isRoot) return undefined;
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })));
  return { uid: uid!, gid: gid! };
}

const programs = (): string => {
  if (!postgresPrograms) throw new Error("Debian's PostgreSQL is not installed");
  return postgresPrograms;
};

/** A PostgreSQL cluster of Debian's programs, on loopback, which a test may break in any way. */
export class PostgresCluster {
  readonly port: number;
  readonly #folder: string;
  readonly #ownsFolder: boolean;
  readonly #account = postgresAccount();
  #server: Tracked | undefined;

  private constructor(folder: string, ownsFolder: boolean, port: number) {
    this.#folder = folder;
    this.#ownsFolder = ownsFolder;
    this.port = port;
  }

  /** Creates an empty cluster and starts it. */
  static async create({ settings = {}, folder, initdb = [] }: ClusterOptions = {}): Promise<PostgresCluster> {
    const cluster = new PostgresCluster(folder ?? scratchFolder('cluster'), folder === undefined, await freePort());
    cluster.#own(cluster.#folder);
    await cluster.#runProgram('initdb', [
      '-D',
      cluster.data,
      '-U',
      'postgres',
      '--auth=trust',
      '--auth-host=scram-sha-256',
      `--pwfile=${cluster.#passwordFile()}`,
      '--no-sync',
      '-E',
      'UTF8',
      ...initdb,
    ]);
    // Replicas connect as the superuser, which `initdb` allows without a password from this machine only.
    appendFileSync(path.join(cluster.data, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 scram-sha-256\n');
    cluster.configure({ ...USUAL, ...settings });
    await cluster.start();
    await cluster.query(`create role ${OWNER} login createrole password '${PASSWORD}'`);
    return cluster;
  }

  /** A streaming replica of this cluster, on its own port, that follows once it is started. */
  async replica(settings: Settings = {}): Promise<PostgresCluster> {
    const replica = new PostgresCluster(scratchFolder('replica'), true, await freePort());
    replica.#own(replica.#folder);
    await replica.#runProgram('pg_basebackup', [
      '-d',
      this.#urlOf('postgres', 'postgres'),
      '-D',
      replica.data,
      '-R',
      '-X',
      'stream',
      '--checkpoint=fast',
      '--no-sync',
    ]);
    replica.configure(settings);
    await replica.start();
    return replica;
  }

  get data(): string {
    return path.join(this.#folder, 'data');
  }

  get isRunning(): boolean {
    return this.#server !== undefined && this.#server.exit() === undefined;
  }

  log(): string {
    return this.#server?.output() ?? '';
  }

  /** The address of a database for its owner; through a proxy if its port is given. */
  url(database: string, port = this.port): string {
    return this.#urlOf(OWNER, database, port);
  }

  #urlOf(user: string, database: string, port = this.port): string {
    return `postgresql://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  }

  /** Takes effect at the next start, or at `reload` for settings that need none. */
  configure(settings: Settings): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(path.join(this.data, 'postgresql.conf'), lines.join(''));
  }

  async createDatabase(name: string): Promise<void> {
    await this.query(`create database ${name} owner ${OWNER} template template0`);
  }

  async start(): Promise<void> {
    const socket = ['-c', `unix_socket_directories=${this.#folder}`, '-c', `port=${this.port}`];
    // SIGQUIT ends it at once with its children; SIGINT may wait for them.
    this.#server = startTracked(path.join(programs(), 'postgres'), ['-D', this.data, ...socket], {
      as: this.#account,
      deathSignal: 'QUIT',
      cwd: '/',
    });
    const server = this.#server;
    await until(
      () => `PostgreSQL accepts connections: ${server.output()}`,
      START_MS,
      () => {
        if (server.exit() !== undefined) throw new Hopeless(`PostgreSQL ended: ${server.output()}`);
        return this.isReady();
      },
    );
  }

  async isReady(): Promise<boolean> {
    return this.query('select 1').then(
      () => true,
      () => false,
    );
  }

  /**
   * Stops it as an operator would: `fast` ends all connections and writes a checkpoint, `immediate` leaves recovery to
   * the next start.
   */
  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    if (this.#server) await endTracked(this.#server, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  }

  async restart(mode: 'fast' | 'immediate'): Promise<void> {
    await this.stop(mode);
    await this.start();
  }

  /** Makes it run and respond, whatever state a failed test has left. */
  async revive(): Promise<void> {
    if (this.isRunning) this.thaw();
    if (!this.isRunning || !(await this.isReady())) await this.restart('immediate');
  }

  /** SIGKILL for the server and all its processes at once, as in a power failure (except for data in the kernel). */
  async crash(): Promise<void> {
    // A stopped server forks no more; its memory is not free for another server before all of them have ended.
    signal(this.#server!.pid, 'SIGSTOP');
    const pids = this.#processes();
    for (const pid of pids) signal(pid, 'SIGKILL');
    await this.#server!.ended;
    await until('all processes of PostgreSQL have ended', START_MS, () => !pids.some(isRunning));
  }

  /** SIGSTOP: connections stay open without responses. */
  freeze(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGSTOP');
    // Processes that were forked in between.
    for (const pid of this.#processes()) signal(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#processes().reverse()) signal(pid, 'SIGCONT');
  }

  #processes(): number[] {
    const { pid } = this.#server!;
    return [pid, ...childrenOf(pid)];
  }

  /** Processes that serve connections of the service. */
  async backends(like = 'castellan%'): Promise<{ pid: number; application: string }[]> {
    const rows = await this.query<{ pid: number; application: string }>(
      `select pid, application_name as application from pg_stat_activity where backend_type = 'client backend' and application_name like '${like}' and pid <> pg_backend_pid()`,
    );
    return rows;
  }

  /** SIGKILL for one connection's process, after which PostgreSQL ends all others and recovers from its log. */
  killBackend(pid: number): void {
    signal(pid, 'SIGKILL');
  }

  /** Makes a replica the primary; resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 30)');
    await until(
      'the promoted server takes writes',
      START_MS,
      async () =>
        (await this.query<{ replica: boolean }>('select pg_is_in_recovery() as replica'))[0]?.replica === false,
    );
  }

  /** As the superuser, through the socket, on a separate connection. */
  async query<R extends pg.QueryResultRow>(
    sql: string,
    database = 'postgres',
    values: readonly unknown[] = [],
  ): Promise<R[]> {
    const client = new pg.Client({ ...this.superuser(database), connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<R>(sql, [...values])).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  superuser(database: string): pg.ClientConfig {
    return { host: this.#folder, port: this.port, user: 'postgres', database, application_name: 'faults' };
  }

  async destroy(): Promise<void> {
    if (this.isRunning) await this.stop('immediate');
    if (this.#ownsFolder) rmSync(this.#folder, { recursive: true, force: true });
  }

  #own(folder: string): void {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o700);
    if (this.#account) chownSync(folder, this.#account.uid, this.#account.gid);
  }

  #passwordFile(): string {
    const file = path.join(this.#folder, 'password');
    if (!existsSync(file)) writeFileSync(file, PASSWORD);
    if (this.#account) chownSync(file, this.#account.uid, this.#account.gid);
    return file;
  }

  async #runProgram(program: string, args: readonly string[]): Promise<void> {
    const identity = this.#account
      ? ['--reuid', String(this.#account.uid), '--regid', String(this.#account.gid), '--clear-groups']
      : [];
    await run('setpriv', [...identity, '--', path.join(programs(), program), ...args], { cwd: '/', timeout: 60_000 });
  }
}
