import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  findEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/platform/embedded/postgres.ts';
import { ask, gone, makeSeed, plantSeed } from './process.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe('the embedded PostgreSQL', () => {
  let parent: string;
  let dataDir: string;
  const running: EmbeddedPostgres[] = [];

  const start = async (
    options: { durable?: boolean | undefined; onExit?: (reason: string) => void; log?: (line: string) => void } = {},
  ) => {
    const server = await startEmbeddedPostgres({ dataDir, durable: false, ...options });
    running.push(server);
    return server;
  };

  const folder = () => {
    const made = scratchFolder('embedded');
    chmodSync(made, 0o755);
    return made;
  };

  let nursery: string;
  const seed = () => path.join(nursery, 'seed');
  beforeAll(() => makeSeed(path.join((nursery = folder()), 'seed')));
  afterAll(() => rmSync(nursery, { recursive: true }));

  beforeEach(() => {
    parent = folder();
    dataDir = path.join(parent, 'data');
    plantSeed(seed(), dataDir);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
    rmSync(parent, { recursive: true, force: true });
  });

  it('keeps its data across restarts', async () => {
    const first = await start();
    await ask(first.connection, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await start();
    expect(await ask(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('listens on a socket in a private folder and nowhere else', async () => {
    const { connection } = await start();
    expect(await ask(connection, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
    expect(statSync(connection.host).mode & 0o777).toBe(0o700);
    expect(await ask(connection, 'select current_database() as db, current_user as who')).toEqual([
      { db: 'castellan', who: 'postgres' },
    ]);
  });

  it('is durable by default', async () => {
    const { connection } = await start({ durable: undefined });
    const settings = await ask(
      connection,
      `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums') order by name`,
    );
    expect(settings.map(({ setting }) => setting)).toEqual(['on', 'on', 'on', 'on']);
  });

  it('sorts text by code point on every system', async () => {
    const { connection } = await start();
    const rows = await ask(connection, `select t from (values ('b'), ('A'), ('a'), ('B')) v(t) order by t`);
    expect(rows.map(({ t }) => t).join('')).toBe('ABab');
  });

  it('has one owner at a time, and a second one does not disturb the first', async () => {
    const { connection } = await start();
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(/is in use by another Castellan process/);
    expect(await ask(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is found by a command on the same machine while it runs', async () => {
    expect(findEmbeddedPostgres(dataDir)).toBeUndefined();
    const server = await start();
    expect(findEmbeddedPostgres(dataDir)).toEqual(server.connection);
    await server.stop();
    expect(findEmbeddedPostgres(dataDir)).toBeUndefined();
  });

  it('reports that it was killed, loses no committed data, and can be started again', async () => {
    let tell: (reason: string) => void;
    const told = new Promise<string>((resolve) => (tell = resolve));
    const first = await start({ durable: true, onExit: (reason) => tell(reason) });
    await ask(first.connection, 'create table kept as select 42 as answer');
    const busy = ask(first.connection, 'select pg_sleep(600)').catch(() => 'cut off');
    process.kill(first.pid, 'SIGKILL');
    expect(await told).toContain('SIGKILL');
    expect(await busy).toBe('cut off');
    const second = await start();
    expect(await ask(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('does not report a requested shutdown', async () => {
    const told: string[] = [];
    const server = await start({ onExit: (reason) => told.push(reason) });
    await server.stop();
    await server.stop();
    await gone(server.pid);
    expect(told).toEqual([]);
  });

  it('logs neither the text nor the values of a failing statement', async () => {
    const lines: string[] = [];
    const { connection } = await start({ log: (line) => lines.push(line) });
    await ask(connection, `select 'hunter2'::int`).catch(() => undefined);
    await ask(connection, `do $$ begin raise warning 'hunter2'; end $$`);
    const server = running.pop()!;
    await server.stop();
    expect(lines.join('\n')).toContain('database system is shut down');
    expect(lines.join('\n')).not.toContain('hunter2');
  });

  it('works in a folder whose path is too long for a socket, and stores the other path', async () => {
    dataDir = path.join(parent, 'a-rather-long-name-for-a-folder'.repeat(3), 'dätä');
    plantSeed(seed(), dataDir);
    const first = await start();
    const { host } = first.connection;
    expect(host.length).toBeLessThan(80);
    expect(statSync(host).mode & 0o777).toBe(0o700);
    expect(findEmbeddedPostgres(dataDir)).toEqual(first.connection);
    await first.stop();
    const second = await start();
    expect(second.connection.host).toBe(host);
    rmSync(host, { recursive: true });
  });

  it('does not use a stored socket folder that others can write to', async () => {
    dataDir = path.join(parent, 'a-rather-long-name-for-a-folder'.repeat(3));
    const squatted = path.join(parent, 'squatted');
    mkdirSync(squatted);
    chmodSync(squatted, 0o777);
    plantSeed(seed(), dataDir);
    writeFileSync(path.join(dataDir, 'socket-directory'), squatted);
    const { connection } = await start();
    expect(connection.host).not.toBe(squatted);
    rmSync(connection.host, { recursive: true });
  });

  it('starts over when its first start was interrupted', async () => {
    rmSync(dataDir, { recursive: true });
    mkdirSync(path.join(dataDir, 'cluster.partial'), { recursive: true });
    writeFileSync(path.join(dataDir, 'cluster.partial', 'PG_VERSION'), '18');
    const { connection } = await start();
    expect(await ask(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readdirSync(dataDir)).not.toContain('cluster.partial');
  });

  it('refuses a cluster of another major version with a message', async () => {
    const server = await start();
    await server.stop();
    const file = path.join(dataDir, 'cluster', 'PG_VERSION');
    writeFileSync(file, '14\n');
    await expect(start()).rejects.toThrow(/made by PostgreSQL 14, and PostgreSQL \d+ is installed/);
    expect(existsSync(file)).toBe(true);
  });
});
