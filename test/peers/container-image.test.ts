import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The instructions of the Dockerfile, with continued lines joined. */
const instructions = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .filter(Boolean)
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)!.slice(1) as [string, string]);

const argumentsOf = (name: string): string[] => instructions.filter(([kind]) => kind === name).map(([, text]) => text);
const listIn = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];

/** Directories of this machine that stand for those of the base image. */
const BASE = ['/usr', '/lib', '/lib64', '/bin', '/sbin', '/etc', '/dev', '/proc'];

const canImitate = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

/**
 * Carries out the steps of the Dockerfile without a container engine: in a mount namespace, below another root, whose
 * programs are those of this machine. Not shown by this: the base image itself, layers, volumes, and HEALTHCHECK's
 * intervals.
 */
describe.skipIf(!canImitate)(
  `the container image${canImitate ? '' : ' (skipped: needs root and mount namespaces)'}`,
  () => {
    let root: string;
    const env: Record<string, string> = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

    /** A command below the root. `readOnly`: all of it but /data and /tmp. */
    const below = (command: readonly string[], { readOnly = false, user = '' } = {}): [string, string[]] => {
      const binds = BASE.map(
        (folder) => `[ -e ${folder} ] && mkdir -p ${root}${folder} && mount --rbind ${folder} ${root}${folder}`,
      );
      const sealed = [
        `mount --bind ${root} ${root}`,
        `mount --bind ${root}/data ${root}/data`,
        `mount -t tmpfs tmpfs ${root}/tmp`,
        `mount -o remount,ro,bind ${root}`,
      ];
      const drop = user
        ? ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', '--no-new-privs', '--pdeathsig', 'TERM']
        : [];
      const script = [
        'set -e',
        ...(readOnly ? [sealed[0]!, sealed[1]!, sealed[2]!] : []),
        ...binds.map((bind) => `{ ${bind}; } || true`),
        ...(readOnly ? [sealed[3]!] : []),
        `exec chroot ${root} /usr/bin/env --chdir=/app "$@"`,
      ];
      return [
        'unshare',
        ['--mount', '--propagation', 'private', 'sh', '-c', script.join('\n'), 'sh', ...drop, ...command],
      ];
    };
    const run = (command: readonly string[], options = {}) => {
      const [file, args] = below(command, options);
      const { status, stdout, stderr } = spawnSync(file, args, { env, encoding: 'utf8', maxBuffer: 2 ** 26 });
      return { status, output: `${stdout}${stderr}` };
    };

    beforeAll(() => {
      root = mkdtempSync('/var/tmp/castellan-image-');
      chmodSync(root, 0o755);
      // The packages that `npm ci` of this checkout has fetched need not be fetched again.
      const npm = (name: string) =>
        spawnSync('npm', ['config', 'get', name], { encoding: 'utf8', cwd: '/' }).stdout.trim();
      BASE.push(npm('cache'));
      Object.assign(env, { npm_config_cache: npm('cache'), npm_config_registry: npm('registry') });
      for (const folder of [...BASE, '/app', '/tmp']) mkdirSync(root + folder, { recursive: true });
      chmodSync(`${root}/tmp`, 0o1777);
      for (const [kind, text] of instructions) {
        if (kind === 'ENV')
          for (const [, name, value] of text.matchAll(/(\w+)=(\S+)/g))
            env[name!] = value!.replace('$PATH', env['PATH']!);
        if (kind === 'COPY') {
          const names = text.split(' ');
          const target = path.join(root, 'app', names.pop()!);
          for (const name of names) {
            const isFolder = statSync(path.join(ROOT, name)).isDirectory();
            const { status } = spawnSync('cp', ['-r', ...(isFolder ? ['-T'] : []), path.join(ROOT, name), target]);
            expect([name, status]).toEqual([name, 0]);
          }
        }
        if (kind === 'RUN') {
          const command = text.replace(' && npm cache clean --force', ' --prefer-offline');
          const { status, output } = run(['sh', '-c', command]);
          expect([text, status, status === 0 ? '' : output]).toEqual([text, 0, '']);
        }
      }
    }, 600_000);
    afterAll(() => rmSync(root, { recursive: true, force: true }));

    const user = argumentsOf('USER')[0]!.split(':')[0]!;
    const ready = async (child: ChildProcess, port: number, output: () => string) => {
      for (const deadline = Date.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
        if (child.exitCode !== null || Date.now() > deadline) throw new Error(`it did not start: ${output()}`);
        const { ok } = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => ({ ok: false }));
        if (ok) return;
      }
    };

    it('has a numeric user, who owns the data directory', () => {
      expect(argumentsOf('USER')).toEqual(['1000:1000']);
      const data = statSync(`${root}/data`);
      expect([data.uid, data.gid, data.mode & 0o777]).toEqual([1000, 1000, 0o700]);
      expect(argumentsOf('VOLUME')).toEqual([env['DATA_DIR']]);
    });

    it('contains the license, and none of this checkout besides the product', () => {
      expect(statSync(`${root}/app/LICENSE`).size).toBeGreaterThan(10_000);
      expect(run(['ls', '/app']).output).not.toMatch(/test|bench|docs|\.git/);
    });

    it('has castellan on its PATH, from any folder', () => {
      expect(run(['sh', '-c', 'cd / && castellan --version'], { readOnly: true, user })).toEqual({
        status: 0,
        output: `${(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string }).version}\n`,
      });
      expect(run(['castellan', 'keys', 'make'], { readOnly: true, user }).output).toMatch(/^MASTER_KEY=[0-9a-f]{64}$/m);
    });

    it('starts as shipped with a read-only file system, is healthy on any port, and stops on SIGTERM', async () => {
      const bundles = () => run(['sh', '-c', 'ls -la --time-style=full-iso /app/node_modules/.cache/castellan']).output;
      const before = bundles();
      // Ports of this machine: 8080 may be in use.
      Object.assign(env, { HOST: '127.0.0.1', PORT: '18172', TLS_PORT: '18173' });
      const [file, args] = below(listIn(argumentsOf('CMD').at(-1)!), { readOnly: true, user });
      const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await ready(child, 18_172, () => output);
      const health = listIn(argumentsOf('HEALTHCHECK')[0]!);
      expect(run(health, { readOnly: true, user })).toEqual({ status: 0, output: '' });
      env['PORT'] = '18174';
      expect(run(health, { readOnly: true, user }).status).toBe(1);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(bundles()).toBe(before);
      writeFileSync(`${root}/app/unused`, '');
    });
  },
);
