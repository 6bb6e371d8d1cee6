import { recordTablesRebuilt } from '../../../../commands/installation/record-restore.ts';
import { system } from '../../../platform/kernel/actor.ts';
import { conflict, FailureError, orThrow } from '../../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../../platform/kernel/ids.ts';
import { personKey, type Person, type PersonKeys } from '../../../platform/vault/vault.ts';
import { carryOutErasures, type ErasuresDependencies } from './erasures.ts';
import { refuseBesideOthers, type RunningProcessesDependencies } from './running-processes.ts';
import type { BegunRestore } from './unfinished-restore.ts';
import { moveReactionCheckpoints } from './reaction-checkpoints.ts';
import { tracesBehind, RECOVERY_STEPS, type RestoreState, type RestoreStateDependencies } from './restore-state.ts';
import { forgetLogDoubts } from '../log-doubts.ts';
import { untilTrusted } from './until-trusted.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { EventStore } from '../../../platform/eventstore/port.ts';
import type { LogTrust } from '../../../platform/eventstore/log-trust.ts';
import type { InstallationIdentity } from '../installation-identity.ts';
import type { EventCodec } from '../../../platform/eventstore/codec.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';

export interface RebuildFromLogDependencies
  extends ErasuresDependencies, RestoreStateDependencies, RunningProcessesDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly installation: InstallationIdentity;
  readonly codec: EventCodec;
  readonly executor: Executor<CommandPorts>;
  readonly personKeys: PersonKeys;
}

export interface RebuiltTables {
  readonly personsLost: number;
}

/** Refuses if the tables are not older, or if no command can restore what is missing. */
export function refuseUnlessTablesAreOlder(
  { mismatch, log, tables }: RestoreState,
  own: RebuildFromLogDependencies['installation']['keys'],
): void {
  if (!mismatch)
    throw new FailureError(conflict('command_refused', 'log and tables belong together: there is nothing to rebuild'));
  if (mismatch.kind === 'empty_tables')
    throw new FailureError(conflict('command_refused', `${mismatch.reason}. ${RECOVERY_STEPS.empty_tables}`));
  if (mismatch.kind !== 'tables_older' && mismatch.kind !== 'keys_missing')
    throw new FailureError(conflict('command_refused', `${mismatch.reason}: rebuilding the tables does not fix this`));
  const hasOtherKeys = [log, tables].some(
    (identity) =>
      identity &&
      JSON.stringify(Object.entries(identity.keys).toSorted()) !== JSON.stringify(Object.entries(own).toSorted()),
  );
  if (hasOtherKeys)
    throw new FailureError(
      conflict(
        'command_refused',
        `${mismatch.reason}: restore the table kept_keys from a backup; nothing can be looked up without its keys`,
      ),
    );
}

/**
 * Brings older tables up to the log.
 *
 * Reactions count as having processed all of it, because their effects were carried out when it was written. Read
 * models catch up by themselves.
 *
 * Persons whose keys were only in the newer tables are lost. They are erased, so that their e-mail addresses are free
 * again.
 *
 * Refused while another process runs. What has begun is recorded before anything is changed, and nothing else is written
 * until it is complete. So after an interruption, repeating the command completes it.
 */
export async function rebuildFromLog(
  services: RebuildFromLogDependencies,
  standing: RestoreState,
  reason: string,
  say: (text: string) => void,
): Promise<RebuiltTables> {
  refuseUnlessTablesAreOlder(standing, services.installation.keys);
  const { trust, executor, unfinishedRestore } = services;
  await refuseBesideOthers(services);
  const { lost } = await tracesBehind(services, standing);
  const restore = await unfinishedRestore.begin({
    command: 'rebuild-from-log',
    mismatch: standing.mismatch!.kind,
    reason,
    logEnd: standing.end,
    tablesReached: standing.reached,
    headsDropped: new Map(),
    personsLost: lost.length,
  });
  const { personsLost } = restore;
  if (!restore.areTablesBrought) await bringReactions(services, restore, lost, say);
  await untilTrusted(trust);
  await services.installation.adopt(executor);
  await carryOutErasures(services);
  const { installationId } = (await services.installation.inTables())!;
  const data = {
    installationId,
    reason: restore.reason,
    mismatch: restore.mismatch,
    logEnd: String(restore.logEnd),
    tablesReached: String(restore.tablesReached),
    personsLost,
  };
  orThrow(
    await executor.execute(recordTablesRebuilt, data, {
      tenantId: INSTALLATION,
      actor: system('castellan restore rebuild-from-log'),
      commandId: restore.id,
      isRetryable: true,
    }),
  );
  await unfinishedRestore.end();
  return { personsLost };
}

async function bringReactions(
  { store, codec, database, personKeys, unfinishedRestore }: RebuildFromLogDependencies,
  { logEnd, personsLost }: BegunRestore,
  lost: readonly Person[],
  say: (text: string) => void,
): Promise<void> {
  // First, because a person whose key is lost must not get a new one: only part of their data could then be decrypted.
  for (const { tenantId, personId } of new Map(lost.map((person) => [personKey(person), person])).values())
    await personKeys.destroy(tenantId, personId);
  say(`${personsLost} persons are lost with their keys`);
  await moveReactionCheckpoints({ store, codec, pool: database.projector }, logEnd, 'everything');
  say('brought reactions to the log');
  await forgetLogDoubts(database.projector);
  await unfinishedRestore.tablesAreBrought();
}
