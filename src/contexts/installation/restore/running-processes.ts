import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../platform/database/database.ts';
import { conflict, FailureError } from '../../../platform/kernel/failure.ts';
import type { Projector } from '../../../platform/projector/projector.ts';
import type { LogDoubts } from '../log-doubts.ts';

const LEASED = `
  select max(leased_until)::text as until from cursors where leased_until > now() and owner is distinct from $1`;
/** A process that runs renews its leases, and says what it says, about once a second. */
const LOOK_MS = 500;

export interface RunningProcessesDependencies {
  readonly database: Database;
  readonly logDoubts: LogDoubts;
  readonly projector: Projector;
}

/** The newest signs of other processes: a lease, and what one says of the log. They are void some seconds later. */
async function signsOfOthers({ database, logDoubts, projector }: RunningProcessesDependencies): Promise<string[]> {
  const [leases, told] = await Promise.all([
    database.projector.query<{ until: string | null }>(LEASED, [projector.checkpoints.owner]),
    logDoubts.lastToldByOthers(),
  ]);
  return [leases.rows[0]!.until, told].filter((sign) => sign !== null && sign !== undefined);
}

/**
 * Refuses while another process of the service runs: it would find the log wrong again, or fold while tables are
 * replaced. Signs that are not renewed are those of a process that was killed, or of a dump: it waits until they are void.
 */
export async function refuseBesideOthers(services: RunningProcessesDependencies): Promise<void> {
  const first = await signsOfOthers(services);
  for (let signs = first; signs.length > 0; signs = await signsOfOthers(services)) {
    if (signs.some((sign) => !first.includes(sign)))
      throw new FailureError(
        conflict(
          'command_refused',
          'a process of the service is running: stop every process, and repeat the command; nothing was changed',
        ),
      );
    await sleep(LOOK_MS);
  }
}
