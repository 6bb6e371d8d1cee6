import { recordLogAccepted } from '../../../../commands/installation/record-restore.ts';
import { MAX_HEADS_NAMED } from '../domain/identity.ts';
import { system } from '../../../platform/kernel/actor.ts';
import { conflict, FailureError, orThrow } from '../../../platform/kernel/failure.ts';
import { INSTALLATION, type TenantId } from '../../../platform/kernel/ids.ts';
import { rebuildLive } from '../../../platform/projector/rebuild.ts';
import { carryOutErasures, type ErasuresDependencies } from './erasures.ts';
import { setAsideLostHeads, type LostHeadsDependencies } from './lost-heads.ts';
import { refuseBesideOthers, type RunningProcessesDependencies } from './running-processes.ts';
import type { BegunRestore, UnfinishedRestore } from './unfinished-restore.ts';
import { moveReactionCheckpoints } from './reaction-checkpoints.ts';
import type { RestoreState } from './restore-state.ts';
import { forgetLogDoubts } from '../log-doubts.ts';
import { untilTrusted } from './until-trusted.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { EventStore } from '../../../platform/eventstore/port.ts';
import type { LogTrust } from '../../../platform/eventstore/log-trust.ts';
import type { InstallationIdentity } from '../installation-identity.ts';
import type { EventCodec } from '../../../platform/eventstore/codec.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';
import type { Projector } from '../../../platform/projector/projector.ts';
import type { AnyReadModel } from '../../../platform/kernel/read-model.ts';

export interface AcceptLogDependencies
  extends ErasuresDependencies, LostHeadsDependencies, RunningProcessesDependencies {
  readonly unfinishedRestore: UnfinishedRestore;
  readonly database: Database;
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly installation: InstallationIdentity;
  readonly codec: EventCodec;
  readonly executor: Executor<CommandPorts>;
  readonly projector: Projector;
  readonly models: readonly AnyReadModel[];
}

export interface AcceptedLog {
  readonly headsDropped: ReadonlyMap<TenantId, number>;
}

/** Refuses if there is nothing to accept, or if the mismatch is of another kind. */
export function refuseUnlessLogIsOlder({ mismatch, headsLost }: RestoreState): void {
  if (!mismatch && headsLost.size === 0)
    throw new FailureError(conflict('command_refused', 'log and tables belong together: there is nothing to accept'));
  if (mismatch && mismatch.kind !== 'log_older' && mismatch.kind !== 'empty_log')
    throw new FailureError(conflict('command_refused', `${mismatch.reason}: accepting the log does not fix this`));
}

/**
 * Adjusts everything that follows the log to the log's present state: rebuilds read models, refolds the state of
 * reactions, and sets aside sealed heads that the log does not contain. No effect is carried out twice.
 *
 * Refused while another process runs. What has begun is recorded before anything is changed, and nothing else is written
 * until it is complete. So after an interruption, repeating the command completes it.
 */
export async function acceptLog(
  services: AcceptLogDependencies,
  standing: RestoreState,
  reason: string,
  say: (text: string) => void,
): Promise<AcceptedLog> {
  refuseUnlessLogIsOlder(standing);
  const { trust, executor, unfinishedRestore } = services;
  await refuseBesideOthers(services);
  const restore = await unfinishedRestore.begin({
    command: 'accept-log',
    mismatch: standing.mismatch?.kind ?? 'heads_lost',
    reason,
    logEnd: standing.end,
    tablesReached: standing.reached,
    headsDropped: standing.headsLost,
    personsLost: 0,
  });
  if (restore.mismatch !== 'heads_lost' && !restore.areTablesBrought)
    await bringTables(services, restore, standing, say);
  await setAsideLostHeads(services);
  await untilTrusted(trust);
  await services.installation.adopt(executor);
  await carryOutErasures(services);
  const { installationId } = (await services.installation.inTables())!;
  const { headsDropped } = restore;
  const data = {
    installationId,
    reason: restore.reason,
    mismatch: restore.mismatch,
    logEnd: String(restore.logEnd),
    tablesReached: String(restore.tablesReached),
    chainsCut: headsDropped.size,
    headsDropped: [...headsDropped].slice(0, MAX_HEADS_NAMED).map(([owner, sequence]) => ({ owner, sequence })),
  };
  orThrow(
    await executor.execute(recordLogAccepted, data, {
      tenantId: INSTALLATION,
      actor: system('castellan restore accept-log'),
      commandId: restore.id,
      isRetryable: true,
    }),
  );
  await unfinishedRestore.end();
  return { headsDropped };
}

async function bringTables(
  services: AcceptLogDependencies,
  { logEnd, tablesReached }: BegunRestore,
  standing: RestoreState,
  say: (text: string) => void,
): Promise<void> {
  const { store, codec, database, projector, models } = services;
  const parts = { store, codec, pool: database.projector, isRestore: true };
  await projector.discardUnserved();
  for (const model of models) {
    await rebuildLive(parts, projector, model, () => undefined);
    say(`rebuilt ${model.name}`);
  }
  await forgetClaimsOfLostStreams(services);
  // If the log has taken another course and has grown past the checkpoints, the process that wrote those events has
  // already handled them.
  await moveReactionCheckpoints(parts, logEnd, tablesReached > logEnd ? 'what they had' : 'everything');
  say('brought reactions to the log');
  if (!standing.log) await database.projector.query('update installation set in_log = false');
  await database.projector.query('update log_watch set position = null, event_id = null');
  await forgetLogDoubts(database.projector);
  await services.unfinishedRestore.tablesAreBrought();
}

/** In PostgreSQL, claims are stored beside the log. Claims of lost streams are released. */
async function forgetClaimsOfLostStreams({ store, database }: AcceptLogDependencies): Promise<void> {
  if (store.name === 'postgres')
    await database.owner.query(
      'delete from claims c where not exists (select from events e where e.stream = c.stream)',
    );
}
