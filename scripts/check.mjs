// Format, types, lint and import rules: the checks that CI runs before the tests. They run beside each other.
import { spawn } from 'node:child_process';

const shell = process.platform === 'win32';
/** An error of the compiler that says that a package, not a file, is missing. */
const NOT_INSTALLED = /error TS(?:2307|2882): [^']*'[^.']/;

/** Runs a program to its end. Returns whether it succeeded, and what it printed. */
const run = (command, args) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], shell });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ isGood: false, output: error.message }));
    child.on('close', (status) => resolve({ isGood: status === 0, output }));
  });

/**
 * One program for everything. The benchmarks' peers are installed when a benchmark runs; without them everything else still
 * has to type-check.
 */
async function types() {
  const { isGood, output } = await run('tsc', ['--noEmit', '-p', 'bench']);
  const isUninstalledPeer = (line) => /^bench[\\/]/.test(line) && NOT_INSTALLED.test(line);
  const errors = output.split('\n').filter((line) => line.includes('error TS') && !isUninstalledPeer(line));
  return errors.length > 0 || (!isGood && !output.includes('error TS'))
    ? { isGood: false, output: errors.join('\n') || output }
    : { isGood: true, output: '' };
}

const checks = [
  ['format (npm run format writes it)', run('prettier', ['--check', '--log-level', 'warn', '.'])],
  ['types', types()],
  ['lint and import rules', run('oxlint', ['--type-aware', '--deny-warnings', '.'])],
];

for (const [what, outcome] of checks) {
  const { isGood, output } = await outcome;
  if (!isGood) console.error(output.trimEnd());
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${what}`);
  if (!isGood) process.exitCode = 1;
}
