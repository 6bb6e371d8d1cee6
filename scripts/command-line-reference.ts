// node --import tsx scripts/command-line-reference.ts Writes docs/reference/command-line.md from the registry of commands.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLineReference } from '../src/app/cli/reference.ts';

writeFileSync(fileURLToPath(new URL('../docs/reference/command-line.md', import.meta.url)), commandLineReference());
