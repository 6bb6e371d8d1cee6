import { finished } from './app/cli/finished-output.ts';
import { runCastellan } from './app/cli/program.ts';
import { processTerminal } from './app/cli/terminal.ts';

async function main(): Promise<void> {
  const exitCode = await runCastellan(process.argv.slice(2), processTerminal());
  await finished(process.stdout, process.stderr);
  // A connection that could not be closed, to a Redis that is away, must not keep the process.
  process.exit(exitCode);
}

void main();
