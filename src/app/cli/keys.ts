import { fstatSync } from 'node:fs';
import type { Command } from 'commander';
import { asEnvironmentFile, newKeys } from '../config/new-keys.ts';

const STDOUT = 1;
const OTHERS = 0o077;

export function addKeysCommands(program: Command): void {
  program
    .command('keys')
    .description('Create keys of a new installation')
    .command('make')
    .description(
      'Print all keys, passwords and certificates for docker-compose.yml: `(umask 077; castellan keys make > .env)`',
    )
    .action(() => {
      process.stdout.write(asEnvironmentFile(newKeys(Date.now())));
      const { mode } = fstatSync(STDOUT);
      if (process.stdout.isTTY !== true && (mode & 0o170000) === 0o100000 && (mode & OTHERS) !== 0)
        process.stderr.write('castellan: other users of this machine can read the file: chmod 600 it\n');
    });
}
