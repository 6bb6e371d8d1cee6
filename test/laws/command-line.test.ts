import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLineReference } from '../../src/app/cli/reference.ts';
import { startApp, type TestApp } from '../dsl/app.ts';
import { castellan, type Ran } from '../dsl/command-line.ts';
import { licensePublicKeyPem } from '../dsl/licenses.ts';
import { scratchFolder } from '../dsl/scratch.ts';
import { HOSTILE, leaves, program, takesValue, valueOf, wordsOf } from './command-line.ts';

const names = [...leaves.keys()];
const leafOf = (name: string) => leaves.get(name)!;

/** Settings with which nothing can be reached. */
const NOWHERE = {
  DATA_DIR: scratchFolder('command-line'),
  DATABASE_URL: 'postgresql://owner@127.0.0.1:1/castellan',
  MASTER_KEY: '11'.repeat(32),
  AUDIT_HMAC_KEY: '22'.repeat(32),
  LICENSE_PUBLIC_KEY: licensePublicKeyPem,
  EVENTSTORE_ADMIN: 'admin:changeit',
};

/** Commands that end in something that cannot be undone, or that somebody may regret. */
const HARMFUL = [
  'demo',
  'eventstore rights',
  'log abandon',
  'log copy',
  'log discard',
  'master-key replace',
  'org detach',
  'org recover',
  'org remove-domain',
  'org suspend',
  'person erase',
  'projections rebuild',
  'projections skip',
  'restore accept-log',
  'restore rebuild-from-log',
];

/** Words with which such a command is harmful, where others are not. */
const ONLY_HARMFUL_WITH: Readonly<Record<string, readonly string[]>> = {
  demo: ['--here'],
  'eventstore rights': ['--grant', '--exclusive'],
  'log copy': ['--finish'],
};
const harmfulWords = (name: string): string[] => [
  ...wordsOf(leafOf(name), name === 'projections rebuild' ? { name: 'all' } : {}),
  ...(ONLY_HARMFUL_WITH[name] ?? []),
];
const asksForConsent = (name: string) => leafOf(name).options.some(({ long }) => long === '--yes');

/** One sentence for the person, never a stack. */
function expectSentence({ stderr }: Ran): void {
  expect(stderr).toMatch(/^castellan: .+\n(See: .+\n)?$/);
  expect(stderr).not.toMatch(/\n\s+at |Error:|unexpected/);
}

/** What `--json` prints: one document on one line. */
function documentOf({ stdout }: Ran): Record<string, unknown> {
  expect(stdout.split('\n')).toEqual([expect.stringMatching(/^\{/), '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('without a command, --json prints one document of', () => {
  const groups = [...new Set(names.map((name) => name.split(' ')).flatMap(([noun, verb]) => (verb ? [noun!] : [])))];

  it.each([['--version'], ['--json', '--version']])('the version: %s %s', async (...words) => {
    const { stdout } = await castellan(['--version']);
    const document = documentOf(await castellan(words.includes('--json') ? words : [...words, '--json']));
    expect(document).toMatchObject({ outcome: 'fine', result: { version: stdout.trim() } });
  });

  it.each([[['help', '--json']], [['--help', '--json']], ...groups.map((noun) => [['help', noun, '--json']])])(
    'the help: %s',
    async (words) => {
      const { result } = documentOf(await castellan(words)) as { result: { commands: { name: string }[] } };
      const known = names.filter((name) => words.length < 3 || name.startsWith(`${words[1]!} `));
      for (const { name } of result.commands)
        expect(known.join('; ')).toMatch(new RegExp(`(^|; )(${words[1]!} )?${name}\\b`));
      expect(result.commands.length).toBeGreaterThan(0);
    },
  );

  it.each(groups)('what is missing: %s', async (noun) => {
    for (const words of [
      [noun, '--json'],
      ['--json', noun],
    ]) {
      const refused = await castellan(words);
      expect([refused.code, documentOf(refused)]).toEqual([
        2,
        { command: noun, outcome: 'usage', exitCode: 2, error: 'name a command' },
      ]);
    }
  });
});

describe.each(names)('castellan %s', (name) => {
  it('describes itself, its options and its arguments', async () => {
    const leaf = leafOf(name);
    expect([leaf.description(), ...leaf.options.map(({ description }) => description)]).not.toContain('');
    const help = await castellan([...name.split(' '), '--help'], { columns: 60 });
    expect(help).toMatchObject({ code: 0, stderr: '' });
    const lines = help.stdout.split('\n').filter((line) => !line.startsWith('Usage:'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it('has --json', async () => {
    expect(leafOf(name).options.map(({ long }) => long)).toContain('--json');
    for (const words of [
      [...name.split(' '), '--help', '--json'],
      ['help', ...name.split(' '), '--json'],
    ]) {
      const document = documentOf(await castellan(words));
      expect(document).toMatchObject({ command: name, outcome: 'fine', result: { description: expect.any(String) } });
    }
  });

  it.each([
    ['an unknown option', () => [...wordsOf(leafOf(name)), '--no-such-option']],
    ['a word too many', () => [...wordsOf(leafOf(name), { name: 'alerts' }), 'surplus']],
  ])('refuses %s with exit code 2, in text and in JSON', async (_what, words) => {
    const plain = await castellan(words(), { env: NOWHERE });
    expect(plain).toMatchObject({ code: 2, stdout: '' });
    expectSentence(plain);
    const json = await castellan([...words(), '--json'], { env: NOWHERE });
    expect(json.code).toBe(2);
    expect(documentOf(json)).toEqual({ command: name, outcome: 'usage', exitCode: 2, error: expect.any(String) });
  });

  it('refuses to be called without what it requires, with exit code 2', async () => {
    const missing = [
      ...leafOf(name)
        .options.filter(({ mandatory }) => mandatory)
        .map(({ long }) => long!),
      ...leafOf(name)
        .registeredArguments.filter(({ required }) => required)
        .map((argument) => argument.name()),
    ];
    if (missing.length === 0) return;
    const ran = await castellan(name.split(' '), { env: NOWHERE });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expectSentence(ran);
  });

  it('says in one sentence that it could not look, or that it was asked wrongly', async () => {
    // The demo has data of its own, new keys need nothing, and the doctor reports what it could not look at.
    if (['demo', 'keys make', 'doctor'].includes(name)) return;
    const words = [...wordsOf(leafOf(name)), ...(asksForConsent(name) ? ['--yes'] : []), '--json'];
    const ran = await castellan(words, { env: NOWHERE });
    expectSentence(ran);
    const { command, outcome, exitCode, error } = documentOf(ran);
    expect([command, exitCode, error]).toEqual([name, ran.code, expect.any(String)]);
    // Without a server of its own, a command is refused for a missing setting.
    const isRefused = ['license issue', 'master-key replace', 'eventstore rights'].includes(name);
    expect(outcome).toBe(isRefused ? 'usage' : 'unavailable');
  });
});

describe('commands that a person may regret', () => {
  it('are these', () => {
    expect(names.filter(asksForConsent).toSorted()).toEqual(HARMFUL);
  });

  it.each(HARMFUL)('%s is refused without a terminal, before anything is opened', async (name) => {
    const ran = await castellan(harmfulWords(name), { env: NOWHERE });
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('add --yes') });
    expectSentence(ran);
  });

  const SHOWS_FIRST = ['restore accept-log', 'restore rebuild-from-log'];
  it.each(HARMFUL.filter((name) => !SHOWS_FIRST.includes(name)))('%s does nothing after a no', async (name) => {
    for (const typed of ['no', '', 'yesterday']) {
      const ran = await castellan(harmfulWords(name), { env: NOWHERE, columns: 200, typed });
      expect(ran).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/Type yes to go on: [^]*Nothing was changed/),
      });
    }
  });

  it('go on after a yes', async () => {
    const { code, stderr } = await castellan(harmfulWords('person erase'), {
      env: NOWHERE,
      columns: 200,
      typed: 'yes',
    });
    expect([code, stderr]).toEqual([3, expect.stringContaining('the database cannot be reached')]);
  });
});

describe('on an installation', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
    await app.newTenant({ name: 'Acme' });
    await app.settled();
  });
  afterAll(() => app.close());
  const run = (words: readonly string[]) => castellan(words, { env: NOWHERE }, (work) => work(app.application));

  /** Options that hold free text: any text is fine. */
  const FREE_TEXT = ['--client', '--name', '--reason', '--slug of org create'];
  const cases = names.flatMap((name) => [
    ...leafOf(name)
      .options.filter(takesValue)
      .map(({ long }) => [name, long!] as const),
    ...leafOf(name).registeredArguments.map((argument) => [name, argument.name()] as const),
  ]);

  it.each(cases)('%s takes hostile values of %s for what they are', async (name, option) => {
    const isFree = FREE_TEXT.includes(option) || FREE_TEXT.includes(`${option} of ${name}`);
    for (const value of HOSTILE) {
      const consent = asksForConsent(name) ? ['--yes'] : [];
      const ran = await run([...wordsOf(leafOf(name), { [option]: value }), ...consent]);
      // A number that is in range, a directory that happens to be there: nothing else is accepted.
      const isFine = ran.code === 0 && (isFree || ['0', '1e9'].includes(value));
      if (!isFine) expectSentence(ran);
      const refusal = /which cannot be read/.test(ran.stderr) ? 3 : 2;
      expect([value.slice(0, 60), ran.code, ran.stderr]).toEqual([
        value.slice(0, 60),
        isFine ? 0 : refusal,
        ran.stderr,
      ]);
    }
  });

  it.each([
    ['tenant list', []],
    ['tenant list', ['--organization', 'guardians']],
    ['org list', []],
    ['admin list', ['--tenant', 'acme']],
    ['admin list', ['--organization', 'guardians']],
    ['license show', []],
    ['license show', ['--tenant', 'acme']],
    ['projections status', []],
    ['projections diff', ['alerts']],
    ['projections rebuild', ['alerts']],
    ['projections retry', ['alerts']],
    ['audit verify', []],
    ['restore status', []],
    ['master-key status', []],
  ])('%s %j prints one JSON document', async (name, more) => {
    if (!(await run(['org', 'list'])).stdout.includes('guardians'))
      await run(['org', 'create', '--name', 'Guardians', '--owner-email', 'owner@guardians.example']);
    await app.settled();
    const ran = await run([...name.split(' '), ...more, '--json']);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(documentOf(ran)).toEqual({ command: name, outcome: 'fine', exitCode: 0, result: expect.any(Object) });
  });
});

describe('docs/reference/command-line.md', () => {
  it('is generated from the commands', () => {
    const written = readFileSync('docs/reference/command-line.md', 'utf8');
    expect(written === commandLineReference(), 'run: node --import tsx scripts/command-line-reference.ts').toBe(true);
  });

  it('and README.md name commands that exist', () => {
    const readme = readFileSync('README.md', 'utf8');
    const table = readme.slice(readme.indexOf('## Command line for operators'));
    const nouns = new Set(program.commands.map((command) => command.name()));
    const named = [...table.matchAll(/`([a-z-]+(?: [a-z-]+)?)(?: [^`]*)?`/g)].map(([, words]) => words!);
    const commands = named.filter((words) => nouns.has(words.split(' ')[0]!));
    expect(commands.length).toBeGreaterThan(15);
    expect(commands.filter((words) => !leaves.has(words) && !leaves.has(words.split(' ')[0]!))).toEqual([]);
  });
});

describe('the program', () => {
  it('asks for a command, with exit code 2', async () => {
    for (const words of [[], ['log']]) {
      const ran = await castellan(words);
      expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('castellan: name a command') });
    }
    expect((await castellan(['nosuch'])).code).toBe(2);
    expect((await castellan(['audit', 'nosuch'])).stderr).toMatch(/^castellan: unknown command 'nosuch'/);
  });

  it('knows an acceptable value for every option', () => {
    for (const leaf of leaves.values())
      for (const { long } of leaf.options.filter(takesValue)) expect(valueOf(long!)).not.toBe('');
    expect(program.commands.length).toBeGreaterThan(5);
  });
});
