import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chooseOsAccount } from '../../../src/platform/embedded/os-account.ts';
import { locateBinaries } from '../../../src/platform/embedded/binaries.ts';
import { hasSetpriv, launch } from '../../../src/platform/embedded/launcher.ts';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { announcesReady } from '../../../src/platform/embedded/postmaster.ts';
import { serverArguments } from '../../../src/platform/embedded/settings.ts';
import { ask, gone, hold, isRunning, kill, makeSeed, plantSeed } from './process.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe('the embedded PostgreSQL, after its owning process was killed', () => {
  let dataDir: string;
  let nursery: string;
  const seed = () => path.join(nursery, 'seed');
  const folder = () => {
    const made = scratchFolder('crash');
    chmodSync(made, 0o755);
    return made;
  };
  beforeAll(() => makeSeed(path.join((nursery = folder()), 'seed')));
  afterAll(() => rmSync(nursery, { recursive: true }));

  const cluster = () => path.join(dataDir, 'cluster');

  beforeEach(() => {
    dataDir = path.join(folder(), 'data');
    plantSeed(seed(), dataDir);
  });
  afterEach(() => rmSync(path.dirname(dataDir), { recursive: true, force: true }));

  /** A server that is not bound to its parent: the state after a crash where `setpriv` is missing. */
  const abandonServer = async () => {
    const context = { account: chooseOsAccount(cluster()), passage: 'none' } as const;
    const args = serverArguments(cluster(), path.join(dataDir, 'socket'), false);
    const { file, args: full, options } = launch(locateBinaries().postgres, args, context);
    const orphan = spawn(file, full, { ...options, stdio: 'ignore', detached: true });
    while (!announcesReady(cluster(), orphan.pid!)) await sleep(10);
    return orphan;
  };

  it.skipIf(!hasSetpriv())('stops, and a new process takes the folder over with all committed data', async () => {
    const holder = await hold(dataDir);
    await ask(holder.connection, 'create table kept as select 42 as answer');
    await kill(holder);
    await gone(holder.pid);
    const next = await startEmbeddedPostgres({ dataDir });
    expect(await ask(next.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await next.stop();
  });

  it('cannot be taken from a live process', async () => {
    const holder = await hold(dataDir);
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(
      `the data directory ${dataDir} is in use by another Castellan process (process ${holder.process.pid})`,
    );
    expect(isRunning(holder.pid)).toBe(true);
    holder.process.kill('SIGTERM');
    await once(holder.process, 'exit');
  });

  it('is shut down by the next owner if it is still running', async () => {
    const orphan = await abandonServer();
    const next = await startEmbeddedPostgres({ dataDir, durable: false });
    expect(isRunning(orphan.pid!)).toBe(false);
    expect(next.pid).not.toBe(orphan.pid);
    expect(await ask(next.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await next.stop();
  });

  it('is not blocked by a pid file whose process id was reused by another process, which is left alone', async () => {
    const orphan = await abandonServer();
    const pidFile = path.join(cluster(), 'postmaster.pid');
    const [, ...rest] = readFileSync(pidFile, 'utf8').split('\n');
    orphan.kill('SIGKILL');
    await once(orphan, 'exit');
    // The other process has PostgreSQL's user, or PostgreSQL itself could detect it.
    const context = { account: chooseOsAccount(cluster()), passage: 'none' } as const;
    const { file, args, options } = launch('sleep', ['600'], context);
    const stranger = spawn(file, args, { ...options, stdio: 'ignore' });
    writeFileSync(pidFile, [stranger.pid, ...rest].join('\n'));
    const next = await startEmbeddedPostgres({ dataDir, durable: false });
    expect(await ask(next.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(isRunning(stranger.pid!)).toBe(true);
    stranger.kill();
    await next.stop();
  });
});
