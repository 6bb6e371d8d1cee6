import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Part } from './parts.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Below the packages that the bundle imports. */
const HERE = fileURLToPath(new URL('..', import.meta.url));

/** Split: this file is bundled too. */
const OWN_ADDRESS = ['import', 'meta', 'url'].join('.');

export interface Bundle {
  readonly main: string;
  remove(): void;
}

/** A source without the part. Throws if a text to be replaced does not occur exactly once. */
export function without(part: Part, file: string, source: string): string {
  let text = source;
  for (const edit of part.edits ?? []) {
    if (path.join(ROOT, edit.file) !== file) continue;
    if (text.split(edit.text).length !== 2)
      throw new Error(`"${edit.text}" does not occur exactly once in ${edit.file}`);
    text = text.replace(edit.text, () => edit.instead);
  }
  return text;
}

/** Bundles the sources of a program as `scripts/run.mjs` does, with or without a part; its packages stay outside. */
export async function bundle(entry: URL, part: Part | undefined): Promise<Bundle> {
  const folder = mkdtempSync(path.join(HERE, 'node_modules/.without-'));
  const inPlace = new Map(
    Object.entries(part?.modules ?? {}).map(([ours, plain]) => [path.join(ROOT, ours), path.join(ROOT, plain)]),
  );
  await build({
    entryPoints: { main: fileURLToPath(entry) },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
    plugins: [
      {
        name: 'without',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path: asked, importer, resolveDir }) => {
            const plain = inPlace.get(path.resolve(resolveDir, asked));
            return plain && plain !== importer ? { path: plain } : undefined;
          });
          onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
            const source = await readFile(file, 'utf8');
            const kept = part ? without(part, file, source) : source;
            return {
              contents: kept.replaceAll(OWN_ADDRESS, JSON.stringify(pathToFileURL(file).href)),
              loader: 'ts',
            };
          });
        },
      },
    ],
  });
  return { main: path.join(folder, 'main.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
