import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pureTests } from '../dsl/pure-tests.ts';
import { scratchFolder } from '../dsl/scratch.ts';

/** Deciders, folds and rules are tested without a database. Tests that need one belong elsewhere. */
const ALWAYS_PURE = ['test/projections'];

describe('npm run test:domain', () => {
  const pure = pureTests();

  it.each(ALWAYS_PURE)('runs every test in %s', (folder) => {
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`);
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter((file) => !pure.includes(file))).toEqual([]);
  });

  it('runs tests of commands, and laws', () => {
    expect(pure).toContain('test/commands/alerts/triage.test.ts');
    expect(pure).toContain('test/laws/read-model-fingerprints.test.ts');
  });

  it('leaves out tests that need PostgreSQL', () => {
    expect(pure).not.toContain('test/laws/row-level-security.test.ts');
    expect(pure).not.toContain('test/app/http/alerts/alerts.test.ts');
  });
});

describe('a test', () => {
  const folder = scratchFolder('pure');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  const isPure = (text: string): boolean => {
    write('subject.test.ts', text);
    return pureTests(folder).length === 1;
  };
  write('deep/pool.ts', `import pg from 'pg';\nexport const pool = () => new pg.Pool();\n`);
  write(
    'deep/store.ts',
    `import { pool } from './pool.ts';\nexport const store = pool;\nexport type Store = object;\n`,
  );
  write('deep/index.ts', `export * from './store.ts';\n`);
  write('rule.ts', `import type { Store } from './deep/store.ts';\nexport const rule = (store: Store) => store;\n`);

  it.each([
    ['that imports nothing', `const one = 1;\n`],
    ['of a module that only names types of the database', `import { rule } from './rule.ts';\n`],
    ['that imports types one by one', `import {\n  type Store,\n  type Other,\n} from './deep/store.ts';\n`],
    ['that reads addresses', `import { isIP } from 'node:net';\n`],
    ['that speaks of a database in a text', `const text = "import pg from 'pg'";\n`],
  ])('%s is pure', (_, text) => expect(isPure(text)).toBe(true));

  it.each([
    ['that imports the database', `import pg from 'pg';\n`],
    ['that imports a module that does', `import { store } from './deep/store.ts';\n`],
    ['that imports it through a re-export', `import { store } from './deep/index.ts';\n`],
    ['that imports it later', `const { store } = await import('./deep/store.ts');\n`],
    ['that imports a value beside a type', `import { store, type Store } from './deep/store.ts';\n`],
    ['that imports a module for its effects', `import './deep/store.ts';\n`],
    ['that opens sockets', `import { connect } from 'node:net';\n`],
    ['that starts processes', `import { spawn } from 'child_process';\n`],
    ['that asks for the test database', `import { inject } from 'vitest';\nconst server = inject('postgres');\n`],
  ])('%s is not pure', (_, text) => expect(isPure(text)).toBe(false));
});
