import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const folder = scratchFolder('cli-processes');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (command: string, env: Record<string, string>) =>
  spawn('bash', ['-c', `set -o pipefail; castellan() { "$NODE" scripts/run.mjs src/cli.ts "$@"; }; ${command}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', VITEST: '', NODE: process.execPath, DATA_DIR: folder, ...env },
  });

/** Runs a line of a shell, in which `castellan` is the command. */
async function shell(command: string, env: Record<string, string> = {}) {
  const child = start(command, env);
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, stdout, stderr };
}

const AWAY = {
  DATABASE_URL: 'postgresql://owner@127.0.0.1:1/castellan',
  MASTER_KEY: '11'.repeat(32),
  AUDIT_HMAC_KEY: '22'.repeat(32),
  LICENSE_PUBLIC_KEY: licensePublicKeyPem,
};

describe('the command line in a shell', () => {
  it('says in one sentence that the database cannot be reached', async () => {
    const ran = await shell('castellan database roles', AWAY);
    expect([ran.code, ran.stdout, ran.stderr.trim().split('\n')]).toEqual([
      3,
      '',
      [expect.stringMatching(/^castellan: the database cannot be reached \(.*ECONNREFUSED.*\)$/)],
    ]);
  });

  it.each([
    'castellan audit verify --heads <(echo "$HEAD")',
    'echo "$HEAD" | castellan audit verify --heads /dev/stdin',
  ])('reads once what a pipe gives: %s', async (command) => {
    const HEAD = JSON.stringify({ tenantId: '0198a000-0000-7000-8000-000000000001', sequence: 9, mac: 'f' });
    const ran = await shell(command, { ...AWAY, HEAD });
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('the database cannot be reached')]);
  });

  it('says in one sentence that the data directory cannot be used', async () => {
    const ran = await shell('castellan org create --name Zed --owner-email owner@zed.example', {
      DATA_DIR: '/dev/null/data',
    });
    expect(ran).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^castellan: DATA_DIR: \/dev\/null\/data.*\n$/),
    });
  });

  it('ends with the outcome of a change while Redis is away', { timeout: 120_000 }, async () => {
    const made = await shell(
      'castellan org create --name Zed --owner-email owner@zed.example --json && castellan projections retry nosuch --json',
      { DATA_DIR: scratchFolder('cli-without-redis'), REDIS_URL: 'redis://127.0.0.1:1' },
    );
    const [created, refused] = made.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(created).toMatchObject({ outcome: 'fine', exitCode: 0 });
    expect(refused).toMatchObject({ exitCode: made.code });
    expect(made.code).toBe(2);
  });

  it('ends quietly when the reader of its output has gone', async () => {
    expect(await shell('castellan --help | true')).toMatchObject({ stderr: '' });
    const ran = await shell('(castellan keys make; echo "code $?" >&2) | true');
    expect(ran.stderr).toMatch(/^code [03]\n$/);
  });
});

describe('the demo in a shell', () => {
  it('uses data of its own, whatever is configured, and leaves nothing behind', { timeout: 120_000 }, async () => {
    const temporary = mkdtempSync('/tmp/castellan-shell-');
    const { code, stdout, stderr } = await shell('castellan demo --devices 8 --json', {
      TMPDIR: temporary,
      DATABASE_URL: 'postgresql://owner@127.0.0.1:1/castellan',
      EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    });
    expect([code, stderr]).toEqual([0, '']);
    const { result } = JSON.parse(stdout) as { result: { dataDir: null; steps: { step: string }[] } };
    expect(result.dataDir).toBeNull();
    expect(result.steps.map(({ step }) => step)).toEqual(
      expect.arrayContaining(['restart the service at noon', 'change one row, then diff']),
    );
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });

  it('says what it does not use, and leaves nothing behind when it is interrupted', { timeout: 120_000 }, async () => {
    const temporary = mkdtempSync('/tmp/castellan-shell-');
    const child = start('exec "$NODE" scripts/run.mjs src/cli.ts demo', {
      TMPDIR: temporary,
      DATABASE_URL_FILE: '/nowhere',
      EVENTSTORE_URL: 'esdb://castellan:hunter2@127.0.0.1:1?tls=false',
    });
    const ended = once(child, 'exit');
    const errors = text(child.stderr);
    let printed = '';
    for await (const chunk of child.stdout) if ((printed += String(chunk)).includes('Started a service')) break;
    expect(printed.split('\n')[0]).toBe(
      'This demo has data of its own and does not use DATA_DIR, DATABASE_URL_FILE, EVENTSTORE_URL: `demo --here` does.',
    );
    child.kill('SIGINT');
    expect(await ended).toEqual([3, null]);
    expect(await errors).toBe('castellan: interrupted\n');
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });
});
