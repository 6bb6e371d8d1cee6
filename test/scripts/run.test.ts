import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url));

describe('run', () => {
  let sources: string;
  const write = (file: string, content: string) => writeFileSync(path.join(sources, file), content);
  const run = (...args: string[]) => spawnSync(process.execPath, [SCRIPT, path.join(sources, 'entry.ts'), ...args], { encoding: 'utf8', cwd: '/' });

  beforeAll(() => {
    sources = mkdtempSync('/tmp/castellan-run-');
    write('beside.txt', 'found beside its source');
    write('late.ts', 'export const late: string = "loaded late";');
  });
  afterAll(() => rmSync(sources, { recursive: true, force: true }));

  it('runs an entry point with its arguments, what lies beside it, and what it imports later', () => {
    write(
      'entry.ts',
      `import { readFileSync } from 'node:fs';
       import pg from 'pg';
       const { late } = await import('./late.ts');
       console.log(JSON.stringify([process.argv.slice(1), readFileSync(new URL('beside.txt', import.meta.url), 'utf8'), late, typeof pg.Pool]));`,
    );
    const { stdout, stderr, status } = run('--role', 'api');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(JSON.parse(stdout)).toEqual([[path.join(sources, 'entry.ts'), '--role', 'api'], 'found beside its source', 'loaded late', 'function']);
  });

  it('runs the sources as they are now', () => {
    write('entry.ts', `console.log('first');`);
    expect(run().stdout).toBe('first\n');
    write('entry.ts', `console.log('second');`);
    expect(run().stdout).toBe('second\n');
  });

  it('names the line of the source in a stack trace, and ends as the program ends', () => {
    write('entry.ts', `interface Nothing {}\n\nthrow new Error('on purpose');`);
    const { stderr, status } = run();
    expect(stderr).toMatch(/entry\.ts:3/);
    expect(status).toBe(1);
  });
});
