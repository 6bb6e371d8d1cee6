import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import {
  acceptLog,
  refuseUnlessLogIsOlder,
  type AcceptLogDependencies,
} from '../../contexts/installation/restore/accept-log.ts';
import {
  rebuildFromLog,
  refuseUnlessTablesAreOlder,
  type RebuildFromLogDependencies,
} from '../../contexts/installation/restore/rebuild-from-log.ts';
import {
  restoreStateOf,
  tracesBehind,
  RECOVERY_STEPS,
  type RestoreState,
  type RestoreStateDependencies,
} from '../../contexts/installation/restore/restore-state.ts';
import { reactions } from '../../contexts/reactions.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { InstallationIdentity } from '../../contexts/installation/installation-identity.ts';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';

export interface RestoreCliDependencies
  extends AcceptLogDependencies, RebuildFromLogDependencies, RestoreStateDependencies {
  readonly store: EventStore;
  readonly installation: InstallationIdentity;
  readonly models: readonly AnyReadModel[];
}

const MAX_LETTERS = 500;
const NOTHING_DONE =
  'Nothing was changed. Stop every process of the service, then run this again with --yes and --reason TEXT.';

const AFTERWARDS = 'Start the service, and restart processes that run.';

type Say = (text: string) => void;

/** How a recovery is asked for: `yes` does it, else it only shows the consequences. */
interface Asked {
  readonly yes?: true;
  readonly reason?: string;
}

function reasonOf(text: string | undefined): string {
  const reason = text?.trim() ?? '';
  if (reason.length === 0 || reason.length > MAX_LETTERS)
    throw new FailureError(invalid('--reason', `must be 1 to ${MAX_LETTERS} characters long`));
  return reason;
}

/** Says whether log, tables and keys match, and the recovery steps. */
export async function restoreStatus(services: RestoreCliDependencies, say: Say): Promise<RestoreState> {
  const standing = await restoreStateOf(services);
  const { mismatch, log, tables, end, reached } = standing;
  say(
    `the event log (${services.store.name}) ends at position ${end} and belongs to ${log ? `installation ${log.installationId}` : 'no installation yet'}`,
  );
  say(
    `the tables have come to position ${reached} and belong to ${tables ? `installation ${tables.installationId}` : 'no installation yet'}`,
  );
  say(mismatch ? `NOTHING IS WRITTEN (${mismatch.kind}): ${mismatch.reason}` : 'log, tables and keys belong together');
  if (mismatch && !standing.unfinished) say(RECOVERY_STEPS[mismatch.kind]);
  // After a move, the old log lacks all heads sealed since; that is no loss.
  if (standing.headsLost.size > 0 && mismatch?.kind !== 'log_moved') {
    say(
      `audit-heads.jsonl knows sealed heads of ${standing.headsLost.size} chains that the log does not hold: entries were lost or removed, or the file was changed. Those chains are no longer sealed.`,
    );
    if (!mismatch)
      say(
        'If an older copy was restored on purpose, `castellan restore accept-log` sets these heads aside and records it in the audit log.',
      );
  }
  return standing;
}

/** Says the consequences of accepting the log. Does it only with `yes`; else returns undefined. */
export async function restoreAcceptLog(
  services: RestoreCliDependencies,
  { yes, reason }: Asked,
  say: Say,
): Promise<{ readonly headsDropped: number } | undefined> {
  const standing = await restoreStatus(services, say);
  refuseUnlessLogIsOlder(standing);
  // One that only set heads aside has nothing to do with the tables.
  if (standing.mismatch && standing.unfinished?.mismatch !== 'heads_lost') sayWhatIsLost(services, standing, say);
  say(
    `set aside: sealed heads of ${standing.headsLost.size} audit chains that the log does not hold (audit-heads.jsonl.dropped)`,
  );
  if (!yes) {
    say(NOTHING_DONE);
    return undefined;
  }
  const { headsDropped } = await acceptLog(services, standing, reasonOf(reason), say);
  say(
    `the log is accepted, and the audit log records it; sealed heads of ${headsDropped.size} chains were set aside. ${AFTERWARDS}`,
  );
  return { headsDropped: headsDropped.size };
}

/** Of a restore that was interrupted: what was found when it began. */
const beginningOf = ({ unfinished, end, reached }: RestoreState) =>
  unfinished ?? { logEnd: end, tablesReached: reached };

function sayWhatIsLost(services: RestoreCliDependencies, standing: RestoreState, say: Say): void {
  const { logEnd, tablesReached } = beginningOf(standing);
  const lost = services.store.gapless ? `the ${tablesReached - logEnd} events` : 'everything';
  say(
    tablesReached > logEnd
      ? `lost: ${lost} after position ${logEnd}, which only the tables still show`
      : `lost: everything that was appended after position ${logEnd}; nothing here shows it any more`,
  );
  say(
    `rebuilt from the log: ${services.models.length} read models and the state of ${reactions.length} reactions, without their effects`,
  );
  say('kept: keys, secrets, sessions, jobs; erased persons stay erased');
}

/** Says the consequences of rebuilding from the log. Does it only with `yes`; else returns undefined. */
export async function restoreRebuildFromLog(
  services: RestoreCliDependencies,
  { yes, reason }: Asked,
  say: Say,
): Promise<{ readonly personsLost: number } | undefined> {
  const standing = await restoreStatus(services, say);
  refuseUnlessTablesAreOlder(standing, services.installation.keys);
  const { lost } = await tracesBehind(services, standing);
  say(
    `lost: keys of ${standing.unfinished?.personsLost ?? lost.length} persons, who are erased so that their e-mail addresses are free again; passwords, second factors and secrets that were set after the dump`,
  );
  for (const { tenantId, personId } of lost.slice(0, 20)) say(`  ${personId} of tenant ${tenantId}`);
  if (lost.length > 20) say(`  and ${lost.length - 20} more`);
  say(
    'log destinations go on from their checkpoints in the tables: records since then are sent again, with the same ids',
  );
  say(
    `brought to position ${beginningOf(standing).logEnd}: read models and the state of ${reactions.length} reactions, without their effects`,
  );
  if (!yes) {
    say(NOTHING_DONE);
    return undefined;
  }
  const { personsLost } = await rebuildFromLog(services, standing, reasonOf(reason), say);
  say(`the tables follow the log again, and the audit log records it; ${personsLost} persons were lost. ${AFTERWARDS}`);
  return { personsLost };
}
