import { chownSync, lstatSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileText } from '../file-content.ts';
import type { OsAccount } from './os-account.ts';
import { socketIn } from './usable-cluster.ts';

/** The port is only part of the socket file's name: no network port is used, so none can conflict. */
export const SOCKET_PORT = 5432;

/** Bytes of a socket's path, without the final NUL: `sun_path` has 108 on Linux and 104 on macOS (unix(7)). */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * A private folder for the socket, within the data directory. If that path is too long for a socket, creates a short
 * one among the temporary files and records it in the data directory.
 */
export function socketDirectory(dataDir: string, account: OsAccount | undefined): string {
  const within = socketIn(dataDir);
  if (fits(within)) {
    mkdirSync(within, { recursive: true, mode: 0o700 });
    if (account) chownSync(within, account.uid, account.gid);
    return within;
  }
  const recorded = recordedSocketDirectory(dataDir);
  if (recorded && isPrivate(recorded, account)) return recorded;
  const made = mkdtempSync('/tmp/castellan-');
  if (account) chownSync(made, account.uid, account.gid);
  writeFileSync(recordFile(dataDir), made, { mode: 0o600 });
  return made;
}

/** The socket folder of a data directory, without creating anything. */
export function knownSocketDirectory(dataDir: string): string | undefined {
  const within = socketIn(dataDir);
  return fits(within) ? within : recordedSocketDirectory(dataDir);
}

const fits = (folder: string): boolean =>
  Buffer.byteLength(path.join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= LONGEST_PATH;
const recordFile = (dataDir: string): string => path.join(dataDir, 'socket-directory');

function recordedSocketDirectory(dataDir: string): string | undefined {
  try {
    return fileText(recordFile(dataDir));
  } catch {
    return undefined;
  }
}

/**
 * A temporary folder may be deleted, and then another user may create one of its name. So it is reused only if it
 * belongs to us alone.
 */
function isPrivate(folder: string, account: OsAccount | undefined): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const owner = account?.uid ?? process.getuid?.();
  return found !== undefined && found.isDirectory() && found.uid === owner && (found.mode & 0o077) === 0;
}
