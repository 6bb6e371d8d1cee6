// node scripts/run.mjs <entry.ts> [arguments…] Bundles the sources of an entry point and runs the bundle. Finding,
// transforming and loading some 700 small TypeScript files individually would take longer to start than the database
// behind them; bundled they take a fraction. A bundle is reused until one of its source files changes.
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
const OLD_MS = 7 * 24 * 3_600_000;

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
    const { folder, made } = JSON.parse(readFileSync(recordOf(entry), 'utf8'));
    if (!Object.entries(made).every(([file, seen]) => stateOf(file) === seen)) return undefined;
    statSync(path.join(folder, 'main.mjs'));
    ifAllowed(() => utimesSync(folder, new Date(), new Date()));
    return folder;
  } catch {
    return undefined;
  }
}

/**
 * Returns undefined if writing is not permitted. (On a read-only file system a recursive `mkdir` reports that the
 * folder does not exist.)
 */
function ifAllowed(write) {
  try {
    return write();
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(error.code)) return undefined;
    throw error;
  }
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
    packages: 'external',
    sourcemap: 'external',
    // The sources stay where they are.
    sourcesContent: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'own-address',
        setup: ({ onLoad }) => onLoad({ filter: /\.ts$/ }, ({ path: file }) => (look(file), withOwnAddress(file))),
      },
    ],
  });
  const outputFiles = await withLineMaps(written);
  const content = createHash('sha256');
  for (const file of outputFiles) content.update(`${file.path}\0${file.hash}\0`);
  const kept = path.join(cache, content.digest('hex').slice(0, 24));
  for (const file of Object.keys(metafile.inputs).map((name) => path.resolve(name))) if (!seen.has(file)) look(file);
  return ifAllowed(() => {
    if (!statSync(kept, { throwIfNoEntry: false })) keep(outputFiles, draft, kept);
    const made = isFinal ? {} : Object.fromEntries(seen);
    ifAllowed(() => writeWhole(recordOf(entry), JSON.stringify({ folder: kept, made })));
    return kept;
  });
}

/**
 * Bundles with their maps inside. Node reads the whole map at every start, and parses it for the first stack trace, so only
 * the first mapping of each source line stays: traces name lines exactly, and columns as the beginning of a statement.
 */
async function withLineMaps(files) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec');
  const maps = new Map(files.filter(({ path: name }) => name.endsWith('.map')).map((file) => [file.path, file]));
  return files
    .filter(({ path: name }) => !name.endsWith('.map'))
    .map((file) => {
      const mapped = maps.get(`${file.path}.map`);
      if (!mapped) return file;
      const map = JSON.parse(mapped.text);
      const lines = decode(map.mappings).map((segments) =>
        segments
          .filter(([, source, line], at) => at === 0 || segments[at - 1][1] !== source || segments[at - 1][2] !== line)
          .map(([column, ...original]) => [column, ...original.slice(0, 3)]),
      );
      const inline = Buffer.from(JSON.stringify({ ...map, names: [], mappings: encode(lines) })).toString('base64');
      return {
        path: file.path,
        contents: `${file.text}\n//# sourceMappingURL=data:application/json;base64,${inline}\n`,
        hash: `${file.hash} ${mapped.hash}`,
      };
    });
}

/** The adjacent files of a module (migrations, schemas, pages) stay beside its source. */
async function withOwnAddress(file) {
  const source = await readFile(file, 'utf8');
  return { contents: source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)), loader: 'ts' };
}

function writeWhole(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

/** Atomically: another start may be writing the same. */
function keep(outputFiles, root, kept) {
  const draft = `${kept}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const { path: file, contents } of outputFiles)
    writeFileSync(path.join(draft, path.relative(root, file)), contents);
  try {
    renameSync(draft, kept);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!statSync(kept, { throwIfNoEntry: false })) throw error;
  }
  const cache = path.dirname(kept);
  for (const name of readdirSync(cache)) {
    const other = path.join(cache, name);
    if (other !== kept && Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0) > OLD_MS)
      rmSync(other, { recursive: true, force: true });
  }
}
