// Installs the packages that only the benchmarks need, beside them, and starts them.
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
// Bundled, as the service is when it is started, so that the same code is measured.
run(
  process.execPath,
  ['--expose-gc', `${dirname(folder)}/scripts/run.mjs`, `${folder}/main.ts`, ...process.argv.slice(2)],
  dirname(folder),
);
