// Runs the code of a bundle. Most of a start was compiling it: V8 keeps what it compiled beside the code, for the next start.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { writeWhole } from './kept-bundles.mjs';
import { nameSources } from './source-traces.mjs';

/** In the folder of a bundle. */
export const CODE_FILE = 'main.js';

/** The function around a bundle. What the code of packages requires, Node finds from the folder of the bundle. */
export const WRAPPER = { before: "(function (require, module, exports) {'use strict';", after: '})' };

const DIGEST_BYTES = 32;

export function runCode(folder) {
  const file = path.join(folder, CODE_FILE);
  nameSources(file);
  const run = compiled(folder).runInThisContext();
  const module = { exports: {} };
  run(createRequire(file), module, module.exports);
}

/** The script of a bundle. Stores what V8 has compiled, unless that is stored already, or cannot be. */
export function compiled(folder) {
  const file = path.join(folder, CODE_FILE);
  const kept = path.join(folder, `main.${cachedDataVersionTag().toString(16)}.cache`);
  const cachedData = dataIn(kept);
  const script = new Script(readFileSync(file, 'utf8'), {
    filename: file,
    cachedData,
  });
  if (cachedData === undefined || script.cachedDataRejected)
    store(kept, script.createCachedData(), path.dirname(folder));
  return script;
}

/** V8 trusts its data: damaged data would end the process without a word. */
function dataIn(file) {
  try {
    const content = readFileSync(file);
    const data = content.subarray(DIGEST_BYTES);
    return digestOf(data).equals(content.subarray(0, DIGEST_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function store(file, data, drafts) {
  try {
    writeWhole(file, Buffer.concat([digestOf(data), data]), drafts);
  } catch {
    // The next start compiles again, as where nothing can be written.
  }
}

function digestOf(data) {
  return createHash('sha256').update(data).digest();
}
