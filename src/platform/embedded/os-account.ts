import { readFileSync, statSync } from 'node:fs';

/** The account of the postgres process; `undefined` means that of this process. */
export interface OsAccount {
  readonly uid: number;
  readonly gid: number;
}

const NOBODY: OsAccount = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root. An existing cluster keeps its owner, so that either root or that user can start
 * it. A new one belongs to `postgres` if the system has that user, else to `nobody`.
 */
export function chooseOsAccount(cluster: string): OsAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return systemAccount('postgres') ?? systemAccount('nobody') ?? NOBODY;
}

function systemAccount(name: string): OsAccount | undefined {
  let users: string;
  try {
    users = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return undefined;
  }
  for (const line of users.split('\n')) {
    const [user, , uid, gid] = line.split(':');
    if (user === name && Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}
