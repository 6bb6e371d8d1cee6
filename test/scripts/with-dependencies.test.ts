import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/with-dependencies.mjs', import.meta.url));

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
    cpSync(SCRIPT, script());
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
});
