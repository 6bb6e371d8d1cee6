// node scripts/run.mjs <entry.ts> [arguments…]
// Bundles the sources of an entry point and runs it. Some 700 small TypeScript files, each found, transformed and loaded by itself,
// would take longer to start than the database behind them; bundled anew at every start they take a fraction, and are never stale.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

// Under node_modules, so that the packages are found from there.
const CACHE = fileURLToPath(new URL('../node_modules/.cache/castellan/', import.meta.url));
const OLD_MS = 7 * 24 * 3_600_000;

const entry = path.resolve(process.argv[2] ?? '');
process.argv.splice(1, 2, entry);
process.setSourceMapsEnabled(true);
const folder = await bundled();
if (folder) {
  await import(pathToFileURL(path.join(folder, 'main.mjs')).href);
} else {
  // Where nothing may be written beside the packages (a read-only image), each file is transformed as it is loaded.
  await import('tsx');
  await import(pathToFileURL(entry).href);
}

/** The folder of the bundle, named by what is in it; undefined where it cannot be kept. */
async function bundled() {
  const { outputFiles } = await build({
    entryPoints: { main: entry },
    outdir: CACHE,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    write: false,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'error',
    plugins: [{ name: 'own-address', setup: ownAddress }],
  });
  const content = createHash('sha256');
  for (const file of outputFiles) content.update(`${file.path}\0${file.hash}\0`);
  const kept = path.join(CACHE, content.digest('hex').slice(0, 24));
  try {
    if (!statSync(kept, { throwIfNoEntry: false })) keep(outputFiles, kept);
    return kept;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return undefined;
    throw error;
  }
}

/** What a module finds beside itself (migrations, schemas, pages) stays beside its source. */
function ownAddress({ onLoad }) {
  onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
    const source = await readFile(file, 'utf8');
    return { contents: source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)), loader: 'ts' };
  });
}

/** Whole or not at all: another start may be writing the same. */
function keep(outputFiles, kept) {
  const draft = `${kept}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const { path: file, contents } of outputFiles) writeFileSync(path.join(draft, path.relative(CACHE, file)), contents);
  try {
    renameSync(draft, kept);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!statSync(kept, { throwIfNoEntry: false })) throw error;
  }
  for (const name of readdirSync(CACHE)) {
    const other = path.join(CACHE, name);
    if (other !== kept && Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0) > OLD_MS) rmSync(other, { recursive: true, force: true });
  }
}
