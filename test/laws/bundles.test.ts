import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = path.join(ROOT, 'scripts/run.mjs');
/** Processes start with these. */
const ENTRIES = ['src/main.ts', 'src/cli.ts'];

const SOURCES = ['src', 'commands', 'projections', 'queries'];

/** Calls of `require` whose name is made at run time, and is absolute: processors of BullMQ and migrations of Kysely in files, too. */
const ABSOLUTE = [
  '__dirname + "/reserved.js"',
  'processorFile',
  'this.#props.path.join(this.#props.migrationFolder, fileName',
];

/** Functions that share nothing with the sources: two copies are as good as one. */
const STATELESS = 'debug ms uuid string-width emoji-regex is-fullwidth-code-point strip-ansi ansi-regex'.split(' ');

interface Bundle {
  /** Comments are whole lines here. */
  readonly code: string;
}

/** Makes the bundle with an option that ends the program at once. */
function bundleOf(entry: string): Bundle {
  const file = path.join(ROOT, entry);
  spawnSync(process.execPath, [SCRIPT, file, '--no-such-option'], { cwd: ROOT });
  const name = createHash('sha256').update(file).digest('hex').slice(0, 24);
  const record = readFileSync(path.join(ROOT, 'node_modules/.cache/castellan', `${name}.json`), 'utf8');
  const { folder } = JSON.parse(record) as { folder: string };
  return { code: readFileSync(path.join(folder, 'main.js'), 'utf8') };
}

const packageIn = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0];
const allOf = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found]) => found!);

/** Packages whose code is in the bundle: a comment names each file. */
const inside = ({ code }: Bundle): Set<string> =>
  new Set(allOf(code, /^ *\/\/ (?:\.\.\/)*node_modules\/(\S+)$/gm).map((file) => packageIn(ownPart(file))));
/** Nested copies are separate ones. */
const ownPart = (file: string): string => file.split('/node_modules/').at(-1)!;

/** Packages that Node loads itself. Their names are in double quotes; other quotes surround code that packages write. */
function outside({ code }: Bundle): Set<string> {
  const loaded = code
    .split('\n')
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
    .flatMap((line) => allOf(line, /(?<!['"`])\b(?:import|require)\("([^"\n]+)"\)/g));
  return new Set(
    [...loaded, ...requiredBySources()]
      .map((name) => (name.startsWith('file:') ? ownPart(name) : name))
      .filter((name) => !/^\.|^node:/.test(name) && !builtinModules.includes(name))
      .map(packageIn),
  );
}

/** Names of packages in the sources that load some by `createRequire`. */
function requiredBySources(): string[] {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join(ROOT, folder, name),
    ),
  ).filter((file) => file.endsWith('.ts'));
  const texts = files.map((file) => readFileSync(file, 'utf8')).filter((text) => text.includes('createRequire('));
  return texts.flatMap((text) => allOf(text, /(?:\brequire|\))\(\s*'([^'\n]+)',?\s*\)/g));
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}
function manifestOf(name: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined; // Optional, and not installed.
  }
}

/** With everything that they load themselves. */
function withDependencies(names: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    const { dependencies, peerDependencies } = manifestOf(name) ?? {};
    for (const other of Object.keys({ ...dependencies, ...peerDependencies })) visit(other);
  };
  for (const name of names) visit(name);
  return found;
}

describe.each(ENTRIES)('the bundle of %s', (entry) => {
  let bundle: Bundle;
  beforeAll(() => void (bundle = bundleOf(entry)));

  it('holds packages, and leaves some outside', () => {
    expect([...inside(bundle)]).toEqual(
      expect.arrayContaining(['fastify', 'pg', 'zod', 'bullmq', 'kysely', '@opentelemetry/api']),
    );
    expect([...outside(bundle)]).toEqual(
      expect.arrayContaining(['argon2', '@eventstore/db-client', '@grpc/grpc-js', 'xml-crypto']),
    );
  });

  // Two copies do not know each other: a tracer of one is never connected to the exporter of the other.
  it('holds no package that one outside loads, too', () => {
    const held = inside(bundle);
    const twice = [...withDependencies(outside(bundle))].filter((name) => held.has(name));
    expect(twice.filter((name) => !STATELESS.includes(name))).toEqual([]);
  });

  it('requires nothing whose name is relative and known only at run time', () => {
    const computed = allOf(bundle.code, /\brequire\((?!["'`])([^)\n]+)\)/g);
    expect(computed.filter((name) => !ABSOLUTE.includes(name))).toEqual([]);
  });
});
