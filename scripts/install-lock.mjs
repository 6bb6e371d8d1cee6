// Installations of one checkout run one after the other: two at once would remove each other's packages. Node's own
// modules only, as in scripts/with-dependencies.mjs.
//
// Each process that wants to install puts a file of its own into a folder, then looks, and installs if no other process
// has one there. So two never install at once: the later of them sees the earlier one's file. If both see each other, both
// withdraw for a moment. Nobody ever takes a file over, so one that was left by a killed process is just removed.
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';

const LONGEST_MINUTES = 10;
const NOT_ALLOWED = ['EACCES', 'EPERM', 'EROFS'];

/** Another process has been installing for too long. */
export class StillInstalling extends Error {}

/** Does the work, if it is still needed when nobody else does it. */
export function oneAfterTheOther({ folder, isNeeded, work, say }) {
  const deadline = later(Date.now());
  let [hasSaid, before] = [false, undefined];
  for (;;) {
    const [other] = othersIn(folder);
    if (other && Date.now() > deadline) throw new StillInstalling(tooLong(folder, other));
    // One that is seen twice did not withdraw.
    if (other && other === before && !hasSaid) {
      say(`Waiting for ${processOf(other)}, which installs dependencies…`);
      hasSaid = true;
    }
    before = other;
    if (!other && !isNeeded()) return;
    if (!other && enter(folder)) break;
    pause();
  }
  // Also when the program is refused.
  process.once('exit', () => leave(folder));
  try {
    if (isNeeded()) work();
  } finally {
    leave(folder);
  }
}

function later(time) {
  return time + LONGEST_MINUTES * 60_000;
}

/** Returns whether nobody else is there. */
function enter(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, ownName()), '');
  } catch (error) {
    // Only the packages can be written there: everybody installs, as if alone.
    if (NOT_ALLOWED.includes(error.code)) return true;
    // The folder was removed in between.
    if (error.code === 'ENOENT') return false;
    throw error;
  }
  if (othersIn(folder).length === 0) return true;
  leave(folder);
  return false;
}

function leave(folder) {
  try {
    rmSync(path.join(folder, ownName()), { force: true });
    rmdirSync(folder);
  } catch {
    // Others are there, or it is removed already.
  }
}

/** The files of other processes that are running. Those of others are removed. */
function othersIn(folder) {
  let names = [];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return names.filter((name) => {
    if (name === ownName()) return false;
    const runs = isRunning(name, path.join(folder, name));
    if (!runs) rmSync(path.join(folder, name), { force: true });
    return runs;
  });
}

function ownName() {
  return [place(), process.pid, statOf(process.pid)?.start ?? 0].join('.');
}

/** Where a process id means something: a machine, or a container on it. */
function place() {
  try {
    return `${hostname()}-${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`;
  } catch {
    return hostname();
  }
}

function partsOf(name) {
  const [start, pid, ...rest] = name.split('.').toReversed();
  return { where: rest.toReversed().join('.'), pid: Number(pid), start };
}

function isRunning(name, file) {
  const { where, pid, start } = partsOf(name);
  // It cannot be asked (nor can one of a container before that was restarted): it counts for as long as an installation takes.
  if (where !== place()) return Date.now() < later(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  const stat = statOf(pid);
  return !stat || (stat.start === start && !'ZX'.includes(stat.state));
}

/** What Linux says about a process. Another one may have its number later, but not the same time of its start. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its name, in parentheses, may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], start: fields[19] };
  } catch {
    return undefined;
  }
}

/** Of different lengths, so that those who met do not meet again. */
function pause() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50 + Math.random() * 250);
}

function processOf(name) {
  const { where, pid } = partsOf(name);
  return where === place() ? `process ${pid}` : `process ${pid} of ${where}`;
}

function tooLong(folder, name) {
  const who = processOf(name).replace(/^p/, 'P');
  return `${who} has been installing dependencies for more than ${LONGEST_MINUTES} minutes. End it, or remove ${path.join(folder, name)}.`;
}
