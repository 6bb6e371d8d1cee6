import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFEST = ['package.json', 'package-lock.json'];
const NO_REGISTRY = /\b(?:ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ENOTCACHED)\b/;

/**
 * A folder with the packages that a manifest of the repository locks, installed once per lock file, below the root's
 * `node_modules`. No script of a package runs. Undefined, and a line that says so, if no registry can be reached.
 */
export function packagesOf(folder: string): string | undefined {
  const lock = readFileSync(path.join(ROOT, folder, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const place = path.join(ROOT, 'node_modules/.cache/castellan-tools', `${path.basename(folder)}-${digest}`);
  const done = path.join(place, 'installed');
  if (existsSync(done)) return place;
  mkdirSync(place, { recursive: true });
  for (const name of MANIFEST) copyFileSync(path.join(ROOT, folder, name), path.join(place, name));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];
  const { status, stderr } = spawnSync('npm', ['ci', ...options], { cwd: place, encoding: 'utf8', timeout: 100_000 });
  if (status === 0) {
    writeFileSync(done, '');
    return place;
  }
  if (!NO_REGISTRY.test(stderr)) throw new Error(`npm ci failed for ${folder}: ${stderr}`);
  process.stderr.write(`skipped: no registry to install the packages of ${folder} from\n`);
  return undefined;
}
