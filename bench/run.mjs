// Installs what only the benchmarks need, beside them, and starts them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const run = (command, args, cwd) => {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
if (!existsSync(`${folder}/node_modules`)) run('npm', ['ci', '--no-fund', '--no-audit'], folder);
run(process.execPath, ['--expose-gc', '--import', 'tsx', `${folder}/main.ts`, ...process.argv.slice(2)], dirname(folder));
