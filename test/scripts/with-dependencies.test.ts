import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/with-dependencies.mjs', import.meta.url));
const LOCK = fileURLToPath(new URL('../../scripts/install-lock.mjs', import.meta.url));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('scripts/with-dependencies.mjs', () => {
  // A separate project, whose one dependency is a folder in it: nothing is downloaded.
  let project: string;
  const script = () => path.join(project, 'scripts/with-dependencies.mjs');
  const write = (file: string, content: unknown) => writeFileSync(path.join(project, file), JSON.stringify(content));
  const wanted = (version: string) => {
    write('package.json', { name: 'p', version: '1.0.0', dependencies: { local: 'file:local' } });
    write('package-lock.json', {
      name: 'p',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': { name: 'p', version: '1.0.0', dependencies: { local: 'file:local' } },
        local: { version, bin: { local: 'run.mjs' } },
        'node_modules/local': { resolved: 'local', link: true },
      },
    });
    write('local/package.json', { name: 'local', version, bin: { local: 'run.mjs' } });
    writeFileSync(
      path.join(project, 'local/run.mjs'),
      `#!/usr/bin/env node\nconsole.log('ran', ...process.argv.slice(2));\n`,
    );
  };
  const run = (...args: string[]) => spawnSync(process.execPath, [script(), ...args], { encoding: 'utf8', cwd: '/' });

  beforeAll(() => {
    project = mkdtempSync('/tmp/castellan-with-dependencies-');
    mkdirSync(path.join(project, 'scripts'));
    mkdirSync(path.join(project, 'local'));
    for (const file of [SCRIPT, LOCK]) cpSync(file, path.join(project, 'scripts', path.basename(file)));
  });
  afterAll(() => rmSync(project, { recursive: true }));

  it('installs missing packages once, and changed ones again', () => {
    wanted('1.0.0');
    const first = run('local', 'a', 'b c');
    expect(first.stdout).toBe('ran a b c\n'); // The installation writes nothing to the command's output.
    expect(first.stderr).toContain('Installing dependencies');
    expect(run('local').stderr).toBe('');
    wanted('1.0.1');
    expect(run('local').stderr).toContain('Installing dependencies');
    expect(run('local').stderr).toBe('');
    rmSync(path.join(project, 'node_modules'), { recursive: true });
    expect(run('local').stderr).toContain('Installing dependencies');
    expect(existsSync(path.join(project, 'node_modules'))).toBe(true);
  });

  it("ends with the command's exit status", () => {
    expect(run('node', '-e', 'process.exit(7)').status).toBe(7);
    expect(run('node', '-e', 'process.kill(process.pid, "SIGKILL")').status).toBe(128 + 9);
    expect(run('no-such-command').status).not.toBe(0);
    expect(run().stderr).toContain('usage:');
  });

  const PATIENT = `process.on('SIGTERM', () => { console.log('SIGTERM'); process.exit(3); });
    process.on('SIGINT', () => { console.log('SIGINT'); process.exit(4); });
    console.log(process.pid); setInterval(() => {}, 1e6);`;

  const startPatient = async () => {
    const wrapper = spawn(process.execPath, [script(), 'node', '-e', PATIENT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: wrapper.stdout })[Symbol.asyncIterator]();
    return { wrapper, next: async () => (await lines.next()).value as string, pid: Number((await lines.next()).value) };
  };

  it.each([
    ['SIGTERM', 3],
    ['SIGINT', 4],
  ] as const)('forwards %s and waits for the command to end', async (signal, status) => {
    const { wrapper, next } = await startPatient();
    wrapper.kill(signal);
    expect(await next()).toBe(signal);
    expect(await once(wrapper, 'exit')).toEqual([status, null]);
  });

  it.runIf(process.platform === 'linux')('ends the command when npm, which started it, gets SIGTERM', async () => {
    wanted('1.0.1');
    const start = `node scripts/with-dependencies.mjs node -e ${JSON.stringify(PATIENT.replaceAll('\n', ' '))}`;
    const manifest = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8')) as object;
    write('package.json', { ...manifest, scripts: { start } });
    // As under a supervisor: the signal goes to npm alone, not to the group of a terminal.
    const npm = spawn('npm', ['start', '--silent'], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const lines = createInterface({ input: npm.stdout })[Symbol.asyncIterator]();
    const pid = Number((await lines.next()).value);
    npm.kill('SIGTERM');
    expect((await lines.next()).value).toBe('SIGTERM');
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
  });

  it.runIf(process.platform === 'linux')('ends the command when it is killed', async () => {
    const { wrapper, next, pid } = await startPatient();
    wrapper.kill('SIGKILL');
    expect(await next()).toBe('SIGTERM');
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
  });

  describe('while another start installs', () => {
    const locks = () => path.join(project, '.installing');
    /** Stands in for npm: it says that it runs, and waits until the file `go` is there. */
    const slowNpm = () => path.join(project, 'slow-npm.js');
    const started: ChildProcess[] = [];

    interface Start {
      readonly child: ChildProcess;
      readonly ended: Promise<{ stdout: string; stderr: string; status: number | null }>;
      readonly said: () => string;
    }
    const start = (env: NodeJS.ProcessEnv = {}): Start => {
      const child = spawn(process.execPath, [script(), 'local'], {
        cwd: '/',
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      started.push(child);
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (part) => (said.stdout += String(part)));
      child.stderr.on('data', (part) => (said.stderr += String(part)));
      const ended = once(child, 'close').then(() => ({ ...said, status: child.exitCode }));
      return { child, ended, said: () => said.stderr };
    };
    const installing = async () => {
      const first = start({ npm_execpath: slowNpm() });
      await expect.poll(first.said, { timeout: 20_000 }).toContain('npm runs');
      return { ...first, npm: Number(/npm runs (\d+)/.exec(first.said())![1]) };
    };

    beforeEach(() => {
      wanted('1.0.2');
      rmSync(path.join(project, 'node_modules'), { recursive: true, force: true });
      rmSync(path.join(project, 'go'), { force: true });
      writeFileSync(
        slowNpm(),
        `const { spawnSync } = require('node:child_process');
         console.error('npm runs', process.pid);
         const wait = () => require('node:fs').existsSync('go') ? go() : setTimeout(wait, 20);
         const go = () => process.exit(spawnSync('npm', process.argv.slice(2), { stdio: 'inherit' }).status);
         wait();`,
      );
    });
    afterEach(() => {
      writeFileSync(path.join(project, 'go'), '');
      for (const child of started.splice(0)) child.kill('SIGKILL');
    });

    const ran = { stdout: 'ran\n', status: 0 };

    it('several at once install once, and all run', async () => {
      const all = await Promise.all(Array.from({ length: 6 }, () => start().ended));
      expect(all.map(({ stdout, status }) => ({ stdout, status }))).toEqual(all.map(() => ran));
      expect(all.filter(({ stderr }) => stderr.includes('Installing dependencies'))).toHaveLength(1);
      expect(existsSync(locks())).toBe(false);
    });

    it('one waits, says so once, and runs what was installed', async () => {
      const first = await installing();
      const second = start();
      await expect.poll(second.said, { timeout: 20_000 }).toContain('Waiting');
      writeFileSync(path.join(project, 'go'), '');
      expect(await first.ended).toMatchObject(ran);
      expect(await second.ended).toEqual({
        ...ran,
        stderr: `Waiting for process ${first.child.pid}, which installs dependencies…\n`,
      });
    });

    it('one that is killed blocks nobody, and leaves no npm behind', async () => {
      const first = await installing();
      const second = start();
      await expect.poll(second.said, { timeout: 20_000 }).toContain('Waiting');
      first.child.kill('SIGKILL');
      if (process.platform === 'linux') await expect.poll(() => isRunning(first.npm), { timeout: 20_000 }).toBe(false);
      expect(await second.ended).toMatchObject(ran);
      expect(existsSync(locks())).toBe(false);
    });

    it('one that failed lets the next install', async () => {
      writeFileSync(slowNpm(), 'process.exit(1);');
      expect(await start({ npm_execpath: slowNpm() }).ended).toMatchObject({ status: 1 });
      expect(existsSync(locks())).toBe(false);
      expect(await start().ended).toMatchObject(ran);
    });

    it('waits ten minutes at most, and says what to do', async () => {
      const first = await installing();
      // Each look at the clock is a minute later.
      const clock = 'const real = Date.now; let minutes = 0; Date.now = () => real() + 60_000 * minutes++;';
      const { status, stderr } = await start({
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}`,
      }).ended;
      expect(status).toBe(1);
      expect(stderr).toContain(`Process ${first.child.pid} has been installing dependencies for more than 10 minutes`);
      const [lock] = readdirSync(locks());
      expect(stderr).toContain(path.join(locks(), lock!));
    });

    describe('that cannot be asked whether it still runs', () => {
      const lockOf = (name: string, minutes: number) => {
        mkdirSync(locks(), { recursive: true });
        const at = new Date(Date.now() - minutes * 60_000);
        writeFileSync(path.join(locks(), name), '');
        utimesSync(path.join(locks(), name), at, at);
      };

      it('waits for one of another machine, but not for longer than an installation takes', async () => {
        lockOf('elsewhere.4711.1', 9);
        const waiting = start();
        await expect.poll(waiting.said, { timeout: 20_000 }).toContain('Waiting for process 4711 of elsewhere');
        lockOf('elsewhere.4711.1', 11);
        expect(await waiting.ended).toMatchObject(ran);
        expect(existsSync(locks())).toBe(false);
      });

      it.runIf(process.platform === 'linux')('does not take a later process of the same number for it', async () => {
        const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
        lockOf(`${hostname()}-${namespace}.${process.pid}.1`, 0);
        const { stderr, ...rest } = await start().ended;
        expect(rest).toEqual(ran);
        expect(stderr).not.toContain('Waiting');
      });
    });
  });
});
