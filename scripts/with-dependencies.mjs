// node scripts/with-dependencies.mjs <command> [arguments…] Runs a command after installing the packages of
// package-lock.json, so that a fresh checkout needs only one command. Plain JavaScript and Node's own modules only:
// nothing else is installed when it starts.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { StillInstalling, oneAfterTheOther } from './install-lock.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OLDEST_NODE = [20, 19];

const [command, ...args] = process.argv.slice(2);
requireNode();
if (!command) refuse('usage: node scripts/with-dependencies.mjs <command> [arguments…]');
if (!isInstalled()) installAlone();
run(command, args);

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  refuse(`Castellan needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`);
}

/** Compares the installed packages, in the record that npm writes last, with the lock file. */
function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const present = packagesIn('node_modules/.package-lock.json');
  if (!wanted) refuse('package-lock.json is missing or broken.');
  if (!present) return false;
  const omitsDev = process.env.NODE_ENV === 'production';
  const complete = Object.entries(wanted).every(
    ([place, entry]) => place === '' || (place in present ? isSame(entry, present[place]) : isSpare(entry, omitsDev)),
  );
  return complete && Object.keys(present).every((place) => place in wanted);
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function isSame(one, other) {
  return one.version === other.version && one.integrity === other.integrity;
}

/** Optional packages are mostly other platforms' binaries. */
function isSpare(entry, omitsDev) {
  return Boolean(entry.optional || entry.devOptional || entry.peer || (omitsDev && entry.dev));
}

function installAlone() {
  const folder = path.join(ROOT, '.installing');
  try {
    oneAfterTheOther({ folder, isNeeded: () => !isInstalled(), work: install, say: console.error });
  } catch (error) {
    if (!(error instanceof StillInstalling)) throw error;
    refuse(error.message);
  }
}

function install() {
  console.error('Installing dependencies…');
  const quiet = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  // The command's own output may be read by a program: npm writes to standard error.
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] };
  const { status, error } = npm?.endsWith('.js')
    ? spawnSync(...boundToUs(process.execPath, [npm, ...quiet]), options)
    : spawnSync(...boundToUs('npm', quiet), { ...options, shell: process.platform === 'win32' });
  if (error || status !== 0) refuse(`npm ci failed${error ? `: ${error.message}` : ''}; see above.`);
}

function run(command, args) {
  const bin = path.join(ROOT, 'node_modules', '.bin');
  const program = command === 'node' ? process.execPath : command;
  const child = spawn(...boundToUs(program, args), {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` },
    shell: process.platform === 'win32',
  });
  passSignalsTo(child);
  endWithNpm(child);
  child.once('error', (error) => refuse(`${command}: ${error.message}`));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** On Linux, the program gets a signal when this process is killed, so that none is left behind. */
function boundToUs(program, args) {
  const setpriv = process.platform === 'linux' && spawnSync('setpriv', ['--help'], { encoding: 'utf8' });
  if (!setpriv || !String(setpriv.stdout).includes('--pdeathsig')) return [program, args];
  return ['setpriv', ['--pdeathsig', 'TERM', '--', program, ...args]];
}

function passSignalsTo(child) {
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl-C to the whole foreground group: forwarded as well, it would arrive twice, and twice means
  // "at once".
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
}

/**
 * npm ends on SIGTERM without waiting, and passes the signal no further than its shell. A program that npm started ends
 * when npm has ended; otherwise the service would keep its ports and its data directory.
 */
function endWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return;
  const npm = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 100);
}

function refuse(message) {
  console.error(message);
  process.exit(1);
}
