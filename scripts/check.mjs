// Format, types, lint and import rules: the checks that CI runs before the tests.
import { spawnSync } from 'node:child_process';

const checks = [
  ['format (npm run format writes it)', 'prettier', ['--check', '--log-level', 'warn', '.']],
  ['types', 'tsc', ['--noEmit', '-p', '.']],
  ['lint and import rules', 'oxlint', ['--type-aware', '--deny-warnings', '.']],
];

let failed = 0;
for (const [what, command, args] of checks) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${what}`);
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
