import { existsSync, readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const DEBIAN = '/usr/lib/postgresql';
const OLDEST = 15;
const NEEDED = ['initdb', 'postgres', 'pg_basebackup', 'pg_ctl'];

/** The folder of Debian's newest PostgreSQL programs, or undefined if there is none that the service supports. */
export const postgresPrograms: string | undefined = newestPostgres();

export const hasRedis: boolean = spawnSync('redis-server', ['--version']).status === 0;

export const isRoot: boolean = process.getuid?.() === 0;

function newestPostgres(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const versions = readdirSync(DEBIAN)
    .map(Number)
    .filter((version) => version >= OLDEST)
    .sort((one, other) => other - one);
  const folders = versions.map((version) => path.join(DEBIAN, String(version), 'bin'));
  return folders.find((folder) => NEEDED.every((program) => existsSync(path.join(folder, program))));
}

interface Needed {
  readonly postgres?: boolean;
  readonly redis?: boolean;
  readonly root?: boolean;
}

/**
 * The programs or rights that a group of faults lacks on this machine, as text for its title; empty if nothing is
 * missing.
 */
export function missing({ postgres = false, redis = false, root = false }: Needed): string {
  const lacking = [
    postgres && !postgresPrograms && "Debian's PostgreSQL",
    redis && !hasRedis && 'redis-server',
    root && !isRoot && 'root',
  ].filter(Boolean);
  return lacking.length === 0 ? '' : ` (skipped: needs ${lacking.join(' and ')})`;
}
