import { fstatSync } from 'node:fs';
import type { Command } from 'commander';
import { asEnvironmentFile, newKeys } from '../config/new-keys.ts';
import { performs, type CommandLine } from './operator-command.ts';
import type { Output } from './output.ts';

const STDOUT = 1;
const OTHERS = 0o077;

/** Secrets in a file that others can read are worth a word, which must not get into the file. */
function warnOfReaders(output: Output): void {
  if (output.terminal.stdout !== process.stdout || process.stdout.isTTY === true) return;
  const { mode } = fstatSync(STDOUT);
  if ((mode & 0o170000) === 0o100000 && (mode & OTHERS) !== 0)
    output.warn('castellan: other users of this machine can read the file: chmod 600 it');
}

export function addKeysCommands(program: Command, cli: CommandLine): void {
  performs(
    cli,
    program
      .command('keys')
      .description('Create keys of a new installation')
      .command('make')
      .description(
        'Print all keys, passwords and certificates for docker-compose.yml: `(umask 077; castellan keys make > .env)`',
      ),
    'looks',
    (output) => {
      const keys = newKeys(Date.now());
      // Not wrapped: a value in two lines would be another value.
      if (!output.isJson) output.terminal.stdout.write(asEnvironmentFile(keys));
      warnOfReaders(output);
      return { result: { settings: Object.fromEntries(keys.map(({ name, value }) => [name, value])) } };
    },
  );
}
