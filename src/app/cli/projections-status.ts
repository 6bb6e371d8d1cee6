import { recordedLogDoubt } from '../../contexts/installation/log-doubts.ts';
import type { Report } from './outcome.ts';
import type { Output } from './output.ts';
import type { Database } from '../../platform/database/database.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Projector } from '../../platform/projector/projector.ts';

export interface ProjectionsStatusDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly projector: Projector;
}

type Checkpoint = Awaited<ReturnType<Projector['progress']>>[number];

/** Position and state of every read model and reaction. Doubts, halted models and parked streams are findings. */
export async function projectionsStatus(
  { projector, store, trust, database }: ProjectionsStatusDependencies,
  output: Output,
): Promise<Report> {
  const head = await store.head();
  output.say(`feed position ${head} (${store.name})`);
  const doubt = trust.doubt?.reason ?? (await recordedLogDoubt(database.projector))?.reason;
  if (doubt) output.say(`NOTHING IS WRITTEN: ${doubt}; \`castellan restore status\` shows how to recover`);
  const checkpoints = await projector.progress();
  for (const checkpoint of checkpoints) output.say(lineOf(checkpoint, head));
  const backlogs = await projector.backlogs.all();
  for (const { name, tenantId, position, failure } of backlogs)
    output.say(
      `behind: ${name} tenant ${tenantId} has a backlog of its own after position ${position}${failure ? `: ${failure}` : ''}`,
    );
  const parked = await projector.deadLetters.list();
  for (const { name, stream, events, error } of parked)
    output.say(`parked: ${name} ${stream}, ${events} events: ${error}`);
  const consumers = checkpoints.map(
    ({ name, version, generation, lane, kind, state, position, idleSeconds, failure }) => ({
      name,
      version,
      generation,
      kind,
      lane,
      state,
      position,
      idleSeconds: Math.round(idleSeconds),
      failure,
    }),
  );
  return {
    result: {
      position: head,
      store: store.name,
      doubt: doubt ?? null,
      consumers,
      backlogs: backlogs.map(({ name, tenantId, position, failure }) => ({ name, tenantId, position, failure })),
      parked: parked.map(({ name, stream, events, error }) => ({ name, stream, events, error })),
    },
    isFinding: Boolean(doubt) || parked.length > 0 || checkpoints.some(({ state }) => state === 'halted'),
  };
}

function lineOf(
  { name, version, generation, lane, kind, state, position, idleSeconds, failure }: Checkpoint,
  head: bigint,
): string {
  const which = `${name.padEnd(34)} v${version}${generation > 1 ? `.${generation}` : ''} ${kind} ${lane} ${state} ${position}`;
  // A version that is no longer used stays where it was.
  if (state === 'retired') return which;
  const distance =
    position < head
      ? `${head - position} behind`
      : position > head
        ? `${position - head} beyond the end of the log`
        : 'up to date';
  return `${which} ${distance}, moved ${Math.round(idleSeconds)} s ago${failure ? `: ${failure}` : ''}`;
}
