// node scripts/run.mjs <entry.ts> [arguments…] Bundles the sources of an entry point, with the packages that they import,
// and runs the bundle. Finding, transforming and loading some 3,600 small files individually would take longer to start
// than the database behind them; bundled they take a fraction. A bundle is reused until one of these files changes.
//
// node scripts/run.mjs --bundle <entry.ts>… Only bundles, for an image: its sources never change, and its file system may
// be read-only. These bundles are used without a look at the sources.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiled, runCode } from './bundle-code.mjs';
import { keep, unchanged } from './kept-bundles.mjs';

if (process.argv[2] === '--bundle') {
  for (const name of process.argv.slice(3)) await bundleInAdvance(path.resolve(name));
} else {
  const entry = path.resolve(process.argv[2] ?? '');
  process.argv.splice(1, 2, entry);
  const folder = unchanged(entry) ?? (await bundled(entry));
  if (folder) {
    runCode(folder);
  } else {
    process.setSourceMapsEnabled(true);
    // If nothing can be written beside the packages (a read-only image), each file is transformed when it is loaded. (As
    // documented for code that registers it: the bare import does so in the main thread only.)
    const { register } = await import('tsx/esm/api');
    register();
    await import(pathToFileURL(entry).href);
  }
}

async function bundleInAdvance(entry) {
  const made = await contentsOf(entry);
  try {
    compiled(keep(entry, { ...made, seen: {} }));
  } catch (error) {
    throw new Error(`the bundle of ${entry} cannot be written`, { cause: error });
  }
}

/** The folder of a new bundle. Undefined if it cannot be written: not permitted, no space, a file in place of a folder. */
async function bundled(entry) {
  const made = await contentsOf(entry);
  try {
    return keep(entry, made);
  } catch (error) {
    // Of an operation of the file system. A program that runs without a bundle starts later, and is the same.
    if (error.syscall) return undefined;
    throw error;
  }
}

async function contentsOf(entry) {
  const { bundleOf } = await import('./bundle-contents.mjs');
  return bundleOf(entry);
}
