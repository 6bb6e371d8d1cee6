import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = path.join(ROOT, 'scripts/run.mjs');

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
       const beside = readFileSync(new URL('beside.txt', import.meta.url), 'utf8');
       void import('./late.ts').then(({ late }) =>
         console.log(JSON.stringify([process.argv.slice(1), beside, late, typeof pg.Pool])));`,
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

  it('runs a module that is also a program, and finds what is beside it', () => {
    write('program.cjs', `#! /usr/bin/env node\nexports.folder = __dirname;`);
    write('entry.ts', `import { folder } from './program.cjs';\nconsole.log(folder);`);
    const { stdout, stderr } = run();
    expect([stdout.trim(), stderr]).toEqual([sources, '']);
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

  it('names the lines of asynchronous functions, and of errors that are strange', () => {
    write(
      'entry.ts',
      `async function inner(): Promise<never> {
         await Promise.resolve();
         throw new Error('on purpose');
       }
       const strange = (): unknown =>
         Object.defineProperty(new Error('x'), 'name', { get: () => { throw new TypeError('no name'); } });
       const outer = async () => await inner();
       outer().catch(({ stack }: Error) => {
         console.log(stack);
         console.log((strange() as Error).stack);
       });`,
    );
    const { stdout, stderr, status } = run();
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const lines = [...stdout.matchAll(/(inner|outer|strange).*entry\.ts:(\d+)/g)].map(([, name, line]) => [name, line]);
    expect(stdout).toMatch(/^Error: on purpose\n/);
    expect(lines).toEqual([
      ['inner', '3'],
      ['outer', '7'],
      ['strange', '6'],
    ]);
  });

  it('reads other scripts than ASCII as they are', () => {
    write(
      'entry.ts',
      `// ünïcode\nconsole.log('Zürich – 東京 🗼', /^ü$/u.test('ü'), \`ß\`, String.raw\`é\`, { ñ: 1 }.ñ);`,
    );
    expect(run().stdout).toBe('Zürich – 東京 🗼 true ß é 1\n');
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
      write('entry.ts', `void import('${PREFIX}later').then(({ said }) => console.log(said));\nexport {};`);
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
      expect(theirs).toMatch(/ofThePackage .*\bmain\.js:\d+/);
    });
  });

  describe('in a checkout with bundles of its own', () => {
    let checkout: string;
    const script = () => path.join(checkout, 'scripts/run.mjs');
    const entry = () => path.join(checkout, 'entry.ts');
    const cache = () => path.join(checkout, 'node_modules/.cache/castellan');
    const put = (file: string, content: string) => {
      mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true });
      writeFileSync(path.join(checkout, file), content);
    };
    const start = () =>
      spawnSync(process.execPath, [script(), entry()], { encoding: 'utf8', cwd: '/', timeout: 20_000 });
    const bundleInAdvance = () =>
      spawnSync(process.execPath, [script(), '--bundle', entry()], { encoding: 'utf8', cwd: '/', timeout: 20_000 });
    /** The bundles and records; drafts of writers are neither. */
    const contentsOfCache = () => readdirSync(cache(), { recursive: true, encoding: 'utf8' }).toSorted();
    const record = () => {
      const [name] = readdirSync(cache()).filter((one) => one.endsWith('.json'));
      return path.join(cache(), name!);
    };
    const bundle = () => (JSON.parse(readFileSync(record(), 'utf8')) as { folder: string }).folder;
    const map = () => path.join(bundle(), 'main.js.map');
    /** What V8 compiled. */
    const compiled = () => {
      const [name] = readdirSync(bundle()).filter((one) => one.endsWith('.cache'));
      return path.join(bundle(), name!);
    };

    beforeEach(() => {
      checkout = mkdtempSync('/tmp/castellan-checkout-');
      cpSync(path.join(ROOT, 'scripts'), path.join(checkout, 'scripts'), { recursive: true });
      put('package.json', '{ "type": "module" }');
      mkdirSync(path.join(checkout, 'node_modules'));
      for (const name of ['esbuild', 'tsx', '@jridgewell'])
        symlinkSync(path.join(ROOT, 'node_modules', name), path.join(checkout, 'node_modules', name));
      put('late.ts', `export const late: string = 'late';`);
      put('entry.ts', `void import('./late.ts').then(({ late }) => console.log('started', late satisfies string));`);
    });
    afterEach(() => rmSync(checkout, { recursive: true, force: true }));

    const well = { stdout: 'started late\n', stderr: '', status: 0 };

    it.each(['0077', '0000'])(
      'makes bundles that all users run and only their owner changes, with umask %s',
      (mask) => {
        const words = [process.execPath, script(), entry()];
        spawnSync('sh', ['-c', `umask ${mask}; exec "$@"`, 'sh', ...words], { cwd: '/', timeout: 20_000 });
        const all = ['..', '.', ...contentsOfCache()].map((name) => statSync(path.join(cache(), name)));
        expect(new Set(all.map((one) => [one.isDirectory(), (one.mode & 0o777).toString(8)].join(' ')))).toEqual(
          new Set(['true 755', 'false 644']),
        );
      },
    );

    describe('makes a bundle again that is damaged', () => {
      it.each([
        // It would run, and end as if all were well.
        ['its beginning is empty', () => writeFileSync(path.join(bundle(), 'main.js'), '')],
        ['its beginning is missing', () => rmSync(path.join(bundle(), 'main.js'))],
        ['a part is cut off', () => writeFileSync(map(), readFileSync(map()).subarray(0, -2))],
        ['a part is missing', () => rmSync(map())],
        ['all of it is missing', () => rmSync(bundle(), { recursive: true })],
        ['its record is cut off', () => writeFileSync(record(), readFileSync(record()).subarray(0, -2))],
      ])('%s', (_, damage) => {
        expect(start()).toMatchObject(well);
        const whole = contentsOfCache();
        damage();
        expect(start()).toMatchObject(well);
        expect(contentsOfCache()).toEqual(whole);
        expect(readFileSync(path.join(bundle(), 'main.js'), 'utf8')).toContain('started');
        expect(start()).toMatchObject(well);
      });

      it('also one that was made in advance', () => {
        bundleInAdvance();
        writeFileSync(path.join(bundle(), 'main.js'), '');
        expect(start()).toMatchObject(well);
      });
    });

    describe('compiles again, and keeps that', () => {
      it.each([
        ['what was compiled is missing', () => rmSync(compiled())],
        ['is empty', () => writeFileSync(compiled(), '')],
        ['is cut off', () => writeFileSync(compiled(), readFileSync(compiled()).subarray(0, -200))],
        // V8 would not notice, and the process would end with SIGSEGV.
        ['is damaged', () => writeFileSync(compiled(), readFileSync(compiled()).fill(0xff, 700, 900))],
      ])('%s', (_, damage) => {
        expect(start()).toMatchObject(well);
        const [file, { size }] = [compiled(), statSync(compiled())];
        damage();
        expect(start()).toMatchObject(well);
        expect([compiled(), statSync(compiled()).size]).toEqual([file, size]);
        expect(start()).toMatchObject(well);
      });

      it('for other options of V8, beside the first', () => {
        start();
        const all = () => readdirSync(bundle()).filter((name) => name.endsWith('.cache'));
        expect(all()).toHaveLength(1);
        const other = () =>
          spawnSync(process.execPath, ['--max-lazy', script(), entry()], { encoding: 'utf8', cwd: '/' });
        expect([other(), other(), start()]).toMatchObject([well, well, well]);
        expect(all()).toHaveLength(2);
      });
    });

    it('keeps what it compiled in advance', () => {
      bundleInAdvance();
      const { mtimeMs } = statSync(compiled());
      expect(start()).toMatchObject(well);
      expect(statSync(compiled()).mtimeMs).toBe(mtimeMs);
    });

    describe('makes a new bundle', () => {
      const install = (name: string, files: Readonly<Record<string, string>>) => {
        for (const [file, content] of Object.entries(files)) put(`node_modules/${PREFIX}${name}/${file}`, content);
      };

      it('when a package that is inside begins with another file', () => {
        const manifest = (main: string) => JSON.stringify({ name: 'of-two', main });
        install('of-two', {
          'package.json': manifest('one.js'),
          'one.js': `exports.said = 'one';`,
          'two.js': `exports.said = 'two';`,
        });
        put('entry.ts', `import { said } from '${PREFIX}of-two';\nconsole.log(said);`);
        expect(start()).toMatchObject({ stdout: 'one\n', stderr: '' });
        install('of-two', { 'package.json': manifest('two.js') });
        expect(start()).toMatchObject({ stdout: 'two\n', stderr: '' });
      });

      it('when the sources are to be compiled otherwise', () => {
        put('tsconfig.json', '{ "compilerOptions": { "useDefineForClassFields": true } }');
        put(
          'entry.ts',
          `class Base { set said(value: string) { console.log(value); } }
           class Own extends Base { override said = 'assigned'; }
           new Own();`,
        );
        expect(start()).toMatchObject({ stdout: '', stderr: '' });
        put('tsconfig.json', '{ "compilerOptions": { "useDefineForClassFields": false } }');
        expect(start()).toMatchObject({ stdout: 'assigned\n', stderr: '' });
      });

      it('when other packages were installed, of which an inner one hides that of before', () => {
        const said = (what: string) => ({
          'package.json': '{ "name": "inner", "main": "index.js" }',
          'index.js': `exports.said = '${what}';`,
        });
        install('inner', said('shared'));
        install('outer', {
          'package.json': '{ "name": "outer", "main": "index.js" }',
          'index.js': `exports.said = require('${PREFIX}inner').said;`,
        });
        put('node_modules/.package-lock.json', '{ "packages": {} }');
        put('entry.ts', `import { said } from '${PREFIX}outer';\nconsole.log(said);`);
        expect(start()).toMatchObject({ stdout: 'shared\n', stderr: '' });
        install(`outer/node_modules/${PREFIX}inner`, said('own'));
        put('node_modules/.package-lock.json', '{ "packages": { "outer": {} } }');
        expect(start()).toMatchObject({ stdout: 'own\n', stderr: '' });
      });
    });

    it('names places in the bundle if its map is gone when the first trace is made', () => {
      put(
        'entry.ts',
        `import { rmSync } from 'node:fs';
         rmSync(process.argv[2]!, { recursive: true });
         console.log(new Error('late').stack);`,
      );
      bundleInAdvance();
      const { stdout, stderr } = spawnSync(process.execPath, [script(), entry(), bundle()], { encoding: 'utf8' });
      expect({ stdout, stderr }).toEqual({
        stdout: expect.stringMatching(/^Error: late\n.*\bmain\.js:\d+/) as string,
        stderr: '',
      });
    });

    it('runs a bundle of an image without a look at the sources, also where its files were copied', () => {
      expect(bundleInAdvance()).toMatchObject({ stdout: '', stderr: '', status: 0 });
      const moved = `${bundle()}.moved`;
      cpSync(bundle(), moved, { recursive: true });
      rmSync(bundle(), { recursive: true });
      renameSync(moved, bundle());
      put('late.ts', `export const late: string = 'changed';`);
      expect(start()).toMatchObject(well);
    });

    it('several starts at once make one bundle, in threads too, and leave no drafts', async () => {
      put(
        'threads.mjs',
        `import { Worker } from 'node:worker_threads';
         for (let left = 4; left > 0; left--)
           new Worker(${JSON.stringify(script())}, { argv: [${JSON.stringify(entry())}], execArgv: [] });`,
      );
      const ended = [script(), script(), path.join(checkout, 'threads.mjs')].map(async (program) => {
        const child = spawn(process.execPath, [program, entry()], { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
        await once(child, 'close');
        return output;
      });
      expect((await Promise.all(ended)).join('')).toBe('started late\n'.repeat(6));
      expect(readdirSync(cache()).toSorted()).toEqual([bundle(), record()].map((one) => path.basename(one)).toSorted());
      expect(readdirSync(bundle()).toSorted()).toEqual([path.basename(compiled()), 'main.js', 'main.js.map']);
    });

    it('removes what nobody used for two days, and no record or bundle that is in use', () => {
      start();
      const old = new Date(Date.now() - 3 * 24 * 3_600_000);
      const [used, drafts, unused] = [record(), 'some.draft', 'unused'].map((name) => path.resolve(cache(), name));
      writeFileSync(drafts!, 'cut o');
      mkdirSync(unused!);
      for (const one of [used!, bundle(), drafts!, unused!]) utimesSync(one, old, old);
      start();
      put('other.ts', 'console.log(0);');
      spawnSync(process.execPath, [script(), path.join(checkout, 'other.ts')]);
      expect([used!, drafts!, unused!].map((file) => existsSync(file))).toEqual([true, false, false]);
      expect(existsSync(bundle())).toBe(true);
    });

    describe('where no bundle can be stored', () => {
      const places: readonly (readonly [what: string, make: () => void])[] = [
        ['folders cannot be created', () => symlinkSync('/sys', path.join(checkout, 'node_modules/.cache'))],
        ['a file has the name of the folder', () => put('node_modules/.cache/castellan', '')],
        ['a file has the name of the folder above', () => put('node_modules/.cache', '')],
      ];

      it.each(places)('runs the sources: %s', (_, make) => {
        make();
        expect(start()).toMatchObject(well);
      });

      it.each(places)('making one in advance fails, and says why: %s', (_, make) => {
        make();
        const { status, stderr } = bundleInAdvance();
        expect(status).toBe(1);
        expect(stderr).toMatch(/entry\.ts cannot be written[^]*(?:EACCES|EEXIST|ENOENT|ENOTDIR|EPERM)/);
      });

      it('runs the current sources in a thread, too', () => {
        put('node_modules/.cache', '');
        put(
          'thread.ts',
          `import { parentPort } from 'node:worker_threads';\nparentPort!.postMessage('from a thread' as string);`,
        );
        put(
          'entry.ts',
          `import { Worker } from 'node:worker_threads';
           const thread: Worker = new Worker(${JSON.stringify(script())}, { argv: [${JSON.stringify(path.join(checkout, 'thread.ts'))}], execArgv: [] });
           thread.on('message', (said: string) => console.log(said));`,
        );
        expect(start()).toMatchObject({ stdout: 'from a thread\n', stderr: '' });
      });

      // A limit of the process, so that no disk has to be full: a write ends in the middle, as on one.
      const startWithin = (kilobytes: number, ...args: string[]) =>
        spawnSync('bash', ['-c', `ulimit -f ${kilobytes}; exec "$@"`, '-', process.execPath, script(), ...args], {
          encoding: 'utf8',
          cwd: '/',
        });
      const enlarge = () => {
        put('late.ts', `export const late: string = 'late';\n${'console.assert(true);\n'.repeat(1000)}`);
      };

      it.runIf(process.platform !== 'win32')(
        'runs the sources after a write that ended in the middle, and leaves nothing',
        () => {
          enlarge();
          expect(startWithin(4, entry())).toMatchObject(well);
          expect(contentsOfCache().filter((name) => !/^[0-9a-f]+(?:\/main\.js)?$/.test(name))).toEqual([]);
          expect(startWithin(4, '--bundle', entry())).toMatchObject({
            status: 1,
            stderr: expect.stringContaining('EFBIG') as string,
          });
          expect(start()).toMatchObject(well);
          expect(existsSync(record())).toBe(true);
        },
      );

      const canMount = spawnSync('unshare', ['--mount', '--map-root-user', 'true']).status === 0;
      it.runIf(canMount)('runs the sources on a disk that is full', () => {
        enlarge();
        mkdirSync(cache(), { recursive: true });
        const steps = `mount -t tmpfs -o size=16k tmpfs "$1" && "$2" "$3" "$4" && ls -R "$1" >&2 && ! "$2" "$3" --bundle "$4"`;
        const { stdout, stderr, status } = spawnSync(
          'unshare',
          ['--mount', '--map-root-user', 'sh', '-c', steps, '-', cache(), process.execPath, script(), entry()],
          { encoding: 'utf8', cwd: '/' },
        );
        expect({ stdout, status }).toEqual({ stdout: well.stdout, status: 0 });
        expect(stderr).not.toContain('.draft');
        expect(stderr).toContain('ENOSPC');
      });
    });
  });
});
