// Format, types, lint and import rules: the checks that CI runs before the tests.
import { spawnSync } from 'node:child_process';

const shell = process.platform === 'win32';
/** An error of the compiler that says that a package, not a file, is missing. */
const NOT_INSTALLED = /error TS(?:2307|2882): [^']*'[^.']/;

const passes = (command, args) => spawnSync(command, args, { stdio: 'inherit', shell }).status === 0;

/** The benchmarks' peers are installed when a benchmark runs. Without them everything else still has to type-check. */
function benchmarksPass() {
  const { stdout } = spawnSync('tsc', ['--noEmit', '-p', 'bench'], { encoding: 'utf8', shell });
  const errors = stdout.split('\n').filter((line) => line.includes('error TS') && !NOT_INSTALLED.test(line));
  for (const error of errors) console.error(error);
  return errors.length === 0;
}

const checks = [
  ['format (npm run format writes it)', () => passes('prettier', ['--check', '--log-level', 'warn', '.'])],
  ['types', () => passes('tsc', ['--noEmit', '-p', '.'])],
  ['types of the benchmarks', benchmarksPass],
  ['lint and import rules', () => passes('oxlint', ['--type-aware', '--deny-warnings', '.'])],
];

let failed = 0;
for (const [what, isGood] of checks) {
  const good = isGood();
  console.log(`${good ? 'ok    ' : 'FAILED'} ${what}`);
  if (!good) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
