import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/**
 * The layers, lowest first. A layer may import itself and the layers in `mayImport`. Type imports count too.
 * The first pattern that matches a file decides its layer.
 */
const layers = {
  kernel: { files: /^src\/platform\/kernel\//, mayImport: [] },
  pki: { files: /^src\/platform\/pki\//, mayImport: ['kernel', 'platform'] },
  platform: { files: /^src\/platform\//, mayImport: ['kernel'] },
  domain: { files: /^src\/contexts\/[^/]+\/domain\//, mayImport: ['kernel', 'pki', 'platform'] },
  registries: {
    files: /^src\/contexts\/(?!reactions\.ts)[^/]+\.ts$/,
    mayImport: ['kernel', 'platform', 'domain'],
  },
  commands: { files: /^commands\//, mayImport: ['kernel', 'pki', 'platform', 'domain', 'registries'] },
  projections: { files: /^projections\//, mayImport: ['kernel', 'pki', 'platform', 'domain', 'registries'] },
  queries: { files: /^queries\//, mayImport: ['kernel', 'pki', 'platform', 'domain', 'registries', 'projections'] },
  contexts: {
    files: /^src\/contexts\//,
    mayImport: ['kernel', 'pki', 'platform', 'domain', 'registries', 'commands', 'projections', 'queries'],
  },
  app: {
    files: /^src\/(?:app\/|main\.ts$|cli\.ts$)/,
    mayImport: ['kernel', 'pki', 'platform', 'domain', 'registries', 'commands', 'projections', 'queries', 'contexts'],
  },
} as const satisfies Record<string, { readonly files: RegExp; readonly mayImport: readonly string[] }>;
type Layer = keyof typeof layers;

/** Packages that only some layers may use: a decider with a connection would not be pure. */
const packagesOfAdapters = /^(?:pg|pg-listen|fastify|bullmq|ioredis|undici|@eventstore\/db-client|@fastify\/.*)$/;
const withoutAdapters: ReadonlySet<Layer> = new Set(['kernel', 'domain', 'registries', 'commands', 'projections']);

const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));

const layerOf = (file: string): Layer | undefined =>
  (Object.keys(layers) as Layer[]).find((name) => layers[name].files.test(file));

const IMPORT = /(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+|new URL\(\s*)'([^'\n]+)'/g;

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = ['src', 'commands', 'projections', 'queries'].flatMap(filesBelow);
const known = new Set(files);
const imports: Import[] = files.flatMap((from) =>
  [...readFileSync(join(ROOT, from), 'utf8').matchAll(IMPORT)].map(([, specifier = '']) => ({
    from,
    to: specifier.startsWith('.') ? posix.join(dirname(from), specifier) : specifier,
  })),
);

function isAllowed({ from, to }: Import): boolean {
  const layer = layerOf(from);
  if (layer === undefined) return false;
  if (!known.has(to)) return !(packagesOfAdapters.test(to) && withoutAdapters.has(layer));
  const target = layerOf(to);
  return target === layer || (target !== undefined && (layers[layer].mayImport as readonly string[]).includes(target));
}

describe('layers', () => {
  it('cover every production file', () => {
    expect(files.filter((file) => layerOf(file) === undefined)).toEqual([]);
    expect(imports.length).toBeGreaterThan(files.length);
  });

  it('import only the layers that they may import', () => {
    expect(imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it('detect an import that points upward, and an adapter in a decider', () => {
    expect(isAllowed({ from: 'commands/alerts/resolve-alert.ts', to: 'queries/alerts/get-alert.ts' })).toBe(false);
    expect(isAllowed({ from: 'src/platform/kernel/event.ts', to: 'src/main.ts' })).toBe(false);
    expect(isAllowed({ from: 'src/contexts/alerts/domain/alert.ts', to: 'pg' })).toBe(false);
  });

  it('leave no production file outside the contexts, the platform and the application', () => {
    const entries = readdirSync(join(ROOT, 'src')).toSorted();
    expect(entries).toEqual(['app', 'cli.ts', 'contexts', 'main.ts', 'platform']);
  });
});

/** Contexts as the code map lists them: `| [`alerts`](…) | … |` or `| `alerts` | … |`. */
const codeMap = readFileSync(join(ROOT, 'docs/reference/code-map.md'), 'utf8');
const section = codeMap.slice(codeMap.indexOf('## Contexts'), codeMap.indexOf('## Platform'));
const contexts = new Set([...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name = '']) => name));

const foldersIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

describe('a context has one name', () => {
  const addresses = [
    'src/contexts',
    'commands',
    'projections',
    'queries',
    'src/app/http/routes',
    'test/commands',
    'test/projections',
    'test/contexts',
  ];

  it.each(addresses)('in %s', (address) => {
    expect(foldersIn(address).filter((name) => !contexts.has(name))).toEqual([]);
  });

  it('and every listed context has a folder', () => {
    const used = new Set(addresses.flatMap(foldersIn));
    expect([...contexts].filter((name) => !used.has(name))).toEqual([]);
  });
});
