import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { freePort } from '../dsl/free-port.ts';

/** The script of README's tour, as somebody copies it. */
function tour(): string {
  const readme = readFileSync('README.md', 'utf8');
  const section = readme.slice(readme.indexOf('## A tour in five minutes'));
  return /```sh\n([^]*?)```/.exec(section)![1]!;
}

const checkout = (): string[] => readdirSync('.').toSorted();

/** Command lines of processes that name a folder. */
const processesOf = (folder: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return [];
      }
    })
    .filter((content) => content.includes(folder));

async function pasted(shell: string, environment: NodeJS.ProcessEnv) {
  const child = spawn(shell, [], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: '', VITEST: '', ...environment },
  });
  child.stdin.end(`${tour()}echo "ended with $?"\n`);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, stderr, end: stdout.trimEnd().split('\n').at(-1) };
}

it('says why it cannot start, and leaves nothing behind', { timeout: 120_000 }, async () => {
  const temporary = mkdtempSync('/tmp/castellan-tour-');
  const other = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const taken = String((other.address() as AddressInfo).port);
  const free = String(await freePort());
  const environment = { TMPDIR: temporary, TLS_PORT: free };
  const busy = await pasted('sh', { ...environment, PORT: taken });
  expect([busy.end, busy.stderr]).toEqual(['ended with 1', expect.stringContaining(`port ${taken} is in use`)]);
  const wrong = await pasted('bash', { ...environment, PORT: free, RATE_LIMIT_RPS: 'many' });
  expect([wrong.end, wrong.stderr]).toEqual(['ended with 1', expect.stringContaining('RATE_LIMIT_RPS')]);
  other.close();
  expect(readdirSync(temporary)).toEqual([]);
  rmSync(temporary, { recursive: true });
});

it.each(['bash', 'sh'])(
  "README's tour works when pasted into %s, and leaves nothing behind",
  { timeout: 300_000 },
  async (shell) => {
    const temporary = mkdtempSync('/tmp/castellan-tour-');
    const [port, tlsPort, before] = [await freePort(), await freePort(), checkout()];
    const { stdout, stderr, end } = await pasted(shell, {
      TMPDIR: temporary,
      PORT: String(port),
      TLS_PORT: String(tlsPort),
    });
    expect([stderr, end]).toEqual(['', 'ended with 0']);
    expect(stdout).toContain('"accepted":1');
    expect(stdout).toContain('"status":"resolved"');
    expect(stdout).toContain('"valid":true');
    expect(stdout).toMatch(/^same {4}alerts: 1 rows/m);
    expect(readdirSync(temporary)).toEqual([]);
    expect(checkout()).toEqual(before);
    await expect.poll(() => processesOf(temporary), { timeout: 10_000 }).toEqual([]);
    rmSync(temporary, { recursive: true });
  },
);
