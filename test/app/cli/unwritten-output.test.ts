import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { scratchFolder } from '../../dsl/scratch.ts';

const folder = scratchFolder('unwritten-output');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The program as an operator starts it, in a folder without an installation. */
const run = (words: readonly string[], stdout: 'pipe' | number = 'pipe') =>
  spawnSync(process.execPath, ['scripts/run.mjs', 'src/cli.ts', ...words], {
    env: { PATH: process.env['PATH'], DATA_DIR: folder },
    encoding: 'utf8',
    stdio: ['ignore', stdout, 'pipe'],
  });

// A device on which every write says that there is no space left.
const isFullDeviceThere = existsSync('/dev/full');

describe('a command whose output cannot be written', () => {
  it.skipIf(!isFullDeviceThere).each([[['keys', 'make']], [['--version']], [['--json', 'keys', 'make']]])(
    'says so, and ends with 3: %j',
    (words) => {
      const { status, stderr } = run(words, openSync('/dev/full', 'w'));
      expect([status, stderr]).toEqual([3, expect.stringContaining('the output could not be written (ENOSPC)')]);
    },
  );
});

describe('a command that only looks, where nothing is', () => {
  it.each([[['tenant', 'list']], [['audit', 'verify']], [['projections', 'status']]])(
    'could not look, and makes nothing: %j',
    (words) => {
      const { status, stderr } = run(words);
      expect([status, stderr]).toEqual([3, expect.stringContaining(`there is no installation in ${folder}`)]);
      expect(existsSync(join(folder, 'keys'))).toBe(false);
    },
  );

  it('could not look either beside a lock and a folder of sockets whose cluster is gone', () => {
    mkdirSync(join(folder, 'postgres/socket'), { recursive: true });
    writeFileSync(join(folder, 'postgres/owner.lock'), '');
    const { status, stderr } = run(['audit', 'verify']);
    expect([status, stderr]).toEqual([3, expect.stringContaining(`there is no installation in ${folder}`)]);
    expect(existsSync(join(folder, 'postgres/cluster'))).toBe(false);
  });
});
