import { readFileSync, statSync } from 'node:fs';

/** Whom the postgres process runs as; `undefined` means: as whoever runs this process. */
export interface OsAccount {
  readonly uid: number;
  readonly gid: number;
}

const NOBODY: OsAccount = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root. A cluster that exists keeps its owner, so that it may be started by root today and by
 * that user tomorrow; a new one belongs to `postgres` where the system has such a user, and else to `nobody`.
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
