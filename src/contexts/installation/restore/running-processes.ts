import type { Database } from '../../../platform/database/database.ts';
import { conflict, FailureError } from '../../../platform/kernel/failure.ts';
import type { Projector } from '../../../platform/projector/projector.ts';
import type { LogDoubts } from '../log-doubts.ts';

const LEASED = `
  select name from cursors where leased_until > now() and owner is distinct from $1 order by name limit 1`;

export interface RunningProcessesDependencies {
  readonly database: Database;
  readonly logDoubts: LogDoubts;
  readonly projector: Projector;
}

/**
 * Refuses while another process of the service runs: it would find the log wrong again, or fold while tables are
 * replaced. A process shows itself by a lease, or by what it says of the log.
 */
export async function refuseBesideOthers({
  database,
  logDoubts,
  projector,
}: RunningProcessesDependencies): Promise<void> {
  const { rows } = await database.projector.query(LEASED, [projector.checkpoints.owner]);
  if (rows.length === 0 && !(await logDoubts.areToldByOthers())) return;
  throw new FailureError(
    conflict(
      'command_refused',
      'a process of the service is running, or has just ended: stop every process, wait 20 seconds, and repeat the command; nothing was changed',
    ),
  );
}
