import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url));

/** Of packages that only these tests have. */
const PREFIX = 'made-up-';

describe('scripts/run.mjs', () => {
  let sources: string;
  const write = (file: string, content: string) => writeFileSync(path.join(sources, file), content);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [SCRIPT, path.join(sources, 'entry.ts'), ...args], { encoding: 'utf8', cwd: '/' });

  beforeAll(() => {
    sources = mkdtempSync('/tmp/castellan-run-');
    write('beside.txt', 'found beside its source');
    write('late.ts', 'export const late: string = "loaded late";');
  });
  afterAll(() => rmSync(sources, { recursive: true, force: true }));

  it('runs an entry point with its arguments, its adjacent files, and its dynamic imports', () => {
    write(
      'entry.ts',
      `import { readFileSync } from 'node:fs';
       import pg from 'pg';
       const { late } = await import('./late.ts');
       console.log(JSON.stringify([process.argv.slice(1), readFileSync(new URL('beside.txt', import.meta.url), 'utf8'), late, typeof pg.Pool]));`,
    );
    const { stdout, stderr, status } = run('--role', 'api');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(JSON.parse(stdout)).toEqual([
      [path.join(sources, 'entry.ts'), '--role', 'api'],
      'found beside its source',
      'loaded late',
      'function',
    ]);
  });

  it('runs the current sources, including imported ones, also after a modification time was restored', () => {
    write('said.ts', `export const said: string = 'first';`);
    write('entry.ts', `import { said } from './said.ts';\nconsole.log(said);`);
    expect([run().stdout, run().stdout]).toEqual(['first\n', 'first\n']);
    const { atime, mtime } = statSync(path.join(sources, 'said.ts'));
    write('said.ts', `export const said: string = 'other';`);
    utimesSync(path.join(sources, 'said.ts'), atime, mtime);
    expect(run().stdout).toBe('other\n');
    write('entry.ts', `console.log('nothing');`);
    expect(run().stdout).toBe('nothing\n');
  });

  it("names the line of the source in a stack trace, and ends with the program's exit status", () => {
    write('entry.ts', `interface Nothing {}\n\nthrow new Error('on purpose');`);
    const { stderr, status } = run();
    // The absolute address, resolved from the folder of the bundle.
    expect(stderr.split(/[\s()]|file:\/\//)).toContainEqual(
      expect.stringMatching(new RegExp(`^${path.join(sources, 'entry.ts')}:3`)),
    );
    expect(status).toBe(1);
  });

  it('names the line within a statement of several lines', () => {
    write(
      'entry.ts',
      `const fail = (): string => {\n  throw new Error('on purpose');\n};\nconsole.log(\n  'first',\n  fail(),\n);`,
    );
    const { stderr } = run();
    const lines = [...stderr.matchAll(/entry\.ts:(\d+)/g)].map(([, line]) => Number(line));
    expect(lines).toEqual(expect.arrayContaining([2, 6]));
  });

  describe('with packages that are bundled too', () => {
    const install = (name: string, files: Readonly<Record<string, string>>) => {
      mkdirSync(path.join(sources, 'node_modules', PREFIX + name), { recursive: true });
      for (const [file, content] of Object.entries(files)) write(`node_modules/${PREFIX}${name}/${file}`, content);
    };

    it('finds what they read and require beside themselves', () => {
      install('of-scripts', {
        'package.json': '{ "name": "of-scripts", "main": "index.js" }',
        'index.js': `'use strict';
          const fs = require('fs');
          const name = ['', 'words.js'].join('/');
          module.exports = [require(__dirname + name), fs.existsSync(__filename)];`,
        'words.js': `module.exports = 'required';`,
      });
      install('of-modules', {
        'package.json': '{ "name": "of-modules", "type": "module", "exports": "./index.js" }',
        'index.js': `import { readFileSync } from 'node:fs';
          const __dirname = import.meta.url;
          export const text = readFileSync(new URL('text.txt', __dirname), 'utf8');`,
        'text.txt': 'read',
      });
      write(
        'entry.ts',
        `import of from '${PREFIX}of-scripts';\nimport { text } from '${PREFIX}of-modules';\nconsole.log(...of, text);`,
      );
      expect(run()).toMatchObject({ stderr: '', stdout: 'required true read\n' });
    });

    it('has the named exports of one that is imported later', () => {
      install('later', { 'package.json': '{ "name": "later", "main": "index.js" }', 'index.js': 'exports.said = 1;' });
      write('entry.ts', `const { said } = await import('${PREFIX}later');\nconsole.log(said);\nexport {};`);
      expect(run()).toMatchObject({ stderr: '', stdout: '1\n' });
    });

    it('runs their current code', () => {
      install('changing', {
        'package.json': '{ "name": "changing", "main": "index.js" }',
        'index.js': 'exports.said = 1;',
      });
      write('entry.ts', `import { said } from '${PREFIX}changing';\nconsole.log(said);`);
      expect(run().stdout).toBe('1\n');
      write(`node_modules/${PREFIX}changing/index.js`, 'exports.said = 2;');
      expect(run().stdout).toBe('2\n');
    });

    it('still names the lines of the sources that call them, and no source for their own', () => {
      install('calling', {
        'package.json': '{ "name": "calling", "main": "index.js" }',
        'index.js': `exports.call = function ofThePackage(work) {\n  return work();\n};`,
      });
      write(
        'entry.ts',
        `import { call } from '${PREFIX}calling';\n\ncall(() => {\n  throw new Error('on purpose');\n});\nexport {};`,
      );
      const [ours, theirs] = run()
        .stderr.split('\n')
        .filter((line) => /^ +at /.test(line));
      expect(ours).toContain(`${path.join(sources, 'entry.ts')}:4`);
      expect(theirs).toMatch(/ofThePackage .*\.mjs:\d+/);
    });
  });

  it('runs the current sources if no bundle can be stored, in a thread too', () => {
    const checkout = path.join(sources, 'checkout');
    const script = path.join(checkout, 'scripts/run.mjs');
    for (const folder of ['scripts', 'node_modules']) mkdirSync(path.join(checkout, folder), { recursive: true });
    copyFileSync(SCRIPT, script);
    write('checkout/package.json', '{ "type": "module" }');
    for (const name of ['esbuild', 'tsx', '@jridgewell'])
      symlinkSync(
        fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url)),
        path.join(checkout, 'node_modules', name),
      );
    // Folders cannot be created there.
    symlinkSync('/sys', path.join(checkout, 'node_modules/.cache'));
    write(
      'checkout/thread.ts',
      `import { parentPort } from 'node:worker_threads';\nparentPort!.postMessage('from a thread' as string);`,
    );
    write(
      'checkout/entry.ts',
      `import { Worker } from 'node:worker_threads';
       const thread: Worker = new Worker(${JSON.stringify(script)}, { argv: [${JSON.stringify(path.join(checkout, 'thread.ts'))}], execArgv: [] });
       thread.on('message', (said: string) => console.log(said));`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [script, path.join(checkout, 'entry.ts')], {
      encoding: 'utf8',
      cwd: '/',
      timeout: 20_000,
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'from a thread\n', stderr: '' });
  });
});
