// node scripts/run.mjs <entry.ts> [arguments…]
// Bundles the sources of an entry point and runs it. Some 700 small TypeScript files, each found, transformed and loaded by itself,
// would take longer to start than the database behind them; bundled they take a fraction. A bundle serves again for as long as none of
// the files that it was made of has been touched.
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

const HOUSE = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const OLD_MS = 7 * 24 * 3_600_000;

const entry = path.resolve(process.argv[2] ?? '');
const CACHE = path.join(packagesOf(path.dirname(entry)), '.cache/castellan');
const DRAFT = path.join(CACHE, 'draft');
process.argv.splice(1, 2, entry);
process.setSourceMapsEnabled(true);
const record = path.join(CACHE, `${createHash('sha256').update(entry).digest('hex').slice(0, 24)}.json`);
const folder = unchanged() ?? (await bundled());
if (folder) {
  await import(pathToFileURL(path.join(folder, 'main.mjs')).href);
} else {
  // Where nothing may be written beside the packages (a read-only image), each file is transformed as it is loaded.
  // (As its documentation has it for code that registers it: the bare import does so in the main thread alone.)
  const { register } = await import('tsx/esm/api');
  register();
  await import(pathToFileURL(entry).href);
}

/** The packages that the entry point finds, the house's at least: under them, a bundle finds the same. */
function packagesOf(folder) {
  const here = path.join(folder, 'node_modules');
  if (folder.startsWith(HOUSE) && existsSync(here)) return here;
  return folder.length > HOUSE.length ? packagesOf(path.dirname(folder)) : path.join(HOUSE, 'node_modules');
}

/** The folder of the latest bundle, if it is still there and what it was made of is as it was. */
function unchanged() {
  try {
    const { folder, made } = JSON.parse(readFileSync(record, 'utf8'));
    if (!Object.entries(made).every(([file, seen]) => stateOf(file) === seen)) return undefined;
    statSync(path.join(folder, 'main.mjs'));
    ifAllowed(() => utimesSync(folder, new Date(), new Date()));
    return folder;
  } catch {
    return undefined;
  }
}

/** Answers undefined where nothing may be written. (Of a read-only file system a recursive `mkdir` says that the folder is not there.) */
function ifAllowed(write) {
  try {
    return write();
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Differs after every write, also after one that puts the old time of modification back. */
function stateOf(file) {
  const { size, ino, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return [size, ino, mtimeNs, ctimeNs].join(' ');
}

/** The folder of the bundle, named by what is in it; undefined where it cannot be kept. */
async function bundled() {
  const { build } = await import('esbuild');
  // Looked at before they are read: what changes in between is found changed the next time.
  const seen = new Map();
  const look = (file) => seen.set(file, stateOf(file));
  for (const file of [fileURLToPath(import.meta.url), fileURLToPath(import.meta.resolve('esbuild'))]) look(file);
  const { outputFiles, metafile } = await build({
    entryPoints: { main: entry },
    // As deep as where it will lie: source maps name the sources from there.
    outdir: DRAFT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'inline',
    // They lie where they lay; the map is read at every start.
    sourcesContent: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'own-address',
        setup: ({ onLoad }) => onLoad({ filter: /\.ts$/ }, ({ path: file }) => (look(file), withOwnAddress(file))),
      },
    ],
  });
  const content = createHash('sha256');
  for (const file of outputFiles) content.update(`${file.path}\0${file.hash}\0`);
  const kept = path.join(CACHE, content.digest('hex').slice(0, 24));
  for (const file of Object.keys(metafile.inputs).map((name) => path.resolve(name))) if (!seen.has(file)) look(file);
  return ifAllowed(() => {
    if (!statSync(kept, { throwIfNoEntry: false })) keep(outputFiles, kept);
    ifAllowed(() => writeWhole(record, JSON.stringify({ folder: kept, made: Object.fromEntries(seen) })));
    return kept;
  });
}

/** What a module finds beside itself (migrations, schemas, pages) stays beside its source. */
async function withOwnAddress(file) {
  const source = await readFile(file, 'utf8');
  return { contents: source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)), loader: 'ts' };
}

function writeWhole(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

/** Whole or not at all: another start may be writing the same. */
function keep(outputFiles, kept) {
  const draft = `${kept}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const { path: file, contents } of outputFiles)
    writeFileSync(path.join(draft, path.relative(DRAFT, file)), contents);
  try {
    renameSync(draft, kept);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!statSync(kept, { throwIfNoEntry: false })) throw error;
  }
  for (const name of readdirSync(CACHE)) {
    const other = path.join(CACHE, name);
    if (other !== kept && Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0) > OLD_MS)
      rmSync(other, { recursive: true, force: true });
  }
}
