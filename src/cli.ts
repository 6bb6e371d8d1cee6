import { runCastellan } from './app/cli/program.ts';
import { processTerminal } from './app/cli/terminal.ts';

process.exitCode = await runCastellan(process.argv.slice(2), processTerminal());
