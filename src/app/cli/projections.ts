import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';
import { diffModel } from '../../platform/projector/diff.ts';
import type { ReplayProgress } from '../../platform/projector/table-replay.ts';
import { FailureError, invalid, notFound } from '../../platform/kernel/failure.ts';
import { recordedLogDoubt } from '../../contexts/installation/log-watch.ts';
import { rebuildInto, rebuildLive, type AsOf } from '../../platform/projector/rebuild.ts';
import type { WithApplication } from './application.ts';
import { retryParkedEvents, skipParkedEvents, type RetryRequest, type SkipRequest } from './parked-events.ts';
import type { Database } from '../../platform/database/database.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { Projector } from '../../platform/projector/projector.ts';

export interface ProjectionsCliDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly trust: LogTrust;
  readonly codec: EventCodec;
  readonly projector: Projector;
}

const chosen = (name: string, all: readonly AnyReadModel[]): readonly AnyReadModel[] => {
  const found = name === 'all' ? all : all.filter((model) => model.name === name);
  if (found.length === 0)
    throw new FailureError(
      notFound('not_found', `no read model is called ${name}; there are ${all.map((model) => model.name).join(', ')}`),
    );
  return found;
};

/** `--as-of`: a position in the event log, or a time. */
export function parseAsOf(text: string | undefined): AsOf {
  if (text === undefined) return {};
  if (/^\d+$/.test(text)) return { position: BigInt(text) };
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new FailureError(invalid('--as-of', 'must be a position or an RFC 3339 time'));
  return { time };
}

/** A bar with rate and remaining time. Positions count events only on PostgreSQL; elsewhere they show progress. */
function progressBar(model: string) {
  const bar = new SingleBar({
    format: '  {model} {bar} {percentage}%  {events} events  {rate}/s  {left} left',
    barsize: 28,
    hideCursor: true,
    clearOnComplete: false,
  });
  let started = false;
  let folded = 0;
  return {
    show: ({ from, position, head, events, elapsedMs }: ReplayProgress) => {
      folded = events;
      const total = Number(head - from) || 1;
      const done = Math.min(Number(position - from), total);
      const rate = Math.round((events * 1000) / Math.max(1, elapsedMs));
      const left = `${Math.max(0, Math.ceil(((total - done) / Math.max(1, done)) * (elapsedMs / 1000)))} s`;
      const payload = { model: model.padEnd(24), events, rate, left };
      if (started) bar.update(done, payload);
      else bar.start(total, done, payload);
      started = true;
      bar.setTotal(total);
    },
    stop: () => {
      if (started) bar.stop();
      return folded;
    },
  };
}

export async function rebuildModels(
  services: ProjectionsCliDependencies,
  models: readonly AnyReadModel[],
  into: string | undefined,
  asOf: AsOf,
): Promise<void> {
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  for (const model of models) {
    const bar = progressBar(model.name);
    if (into) await rebuildInto(parts, model, into, asOf, bar.show);
    else await rebuildLive(parts, services.projector, model, bar.show);
    // Without a terminal there is no bar, only this line.
    console.log(`rebuilt ${into ? `${into}.` : ''}${model.name}: ${bar.stop()} events`);
  }
}

const ADDED = `        "added" rows are in the table, but the log has no event for them. That is expected if retention has removed telemetry from the
        log (after a scavenge of EventStoreDB, for example): \`projections rebuild\` drops them. Investigate any other such row.`;

/** Prints the differences. Returns the number of rows that differ. */
export async function diffModels(
  services: ProjectionsCliDependencies,
  models: readonly AnyReadModel[],
): Promise<number> {
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  let found = 0;
  for (const model of models) {
    const { rows, position, differences } = await diffModel(parts, model);
    found += differences.length;
    console.log(
      `${differences.length === 0 ? 'same   ' : 'DIFFERS'} ${model.name}: ${rows} rows at position ${position}`,
    );
    if (differences.some(({ kind }) => kind === 'added')) console.log(ADDED);
    for (const { kind, key, columns } of differences)
      console.log(`        ${kind} ${JSON.stringify(key)}${columns.length > 0 ? ` in ${columns.join(', ')}` : ''}`);
  }
  return found;
}

async function status({ projector, store, trust, database }: ProjectionsCliDependencies): Promise<void> {
  const head = await store.head();
  console.log(`feed position ${head} (${store.name})`);
  const doubt = trust.doubt?.reason ?? (await recordedLogDoubt(database.projector))?.reason;
  if (doubt) console.log(`NOTHING IS WRITTEN: ${doubt}; \`castellan restore status\` shows how to recover`);
  for (const {
    name,
    version,
    generation,
    lane,
    kind,
    state,
    position,
    idleSeconds,
    failure,
  } of await projector.progress()) {
    const behind =
      position < head
        ? `${head - position} behind`
        : position > head
          ? `${position - head} beyond the end of the log`
          : 'up to date';
    console.log(
      `${name.padEnd(34)} v${version}${generation > 1 ? `.${generation}` : ''} ${kind} ${lane} ${state} ${position} ${behind}, moved ${Math.round(idleSeconds)} s ago${failure ? `: ${failure}` : ''}`,
    );
  }
  for (const { name, tenantId, position, failure } of await projector.backlogs.all()) {
    console.log(
      `behind: ${name} tenant ${tenantId} has a backlog of its own after position ${position}${failure ? `: ${failure}` : ''}`,
    );
  }
  for (const { name, stream, events, error } of await projector.deadLetters.list())
    console.log(`parked: ${name} ${stream}, ${events} events: ${error}`);
}

export function addProjectionCommands(program: Command, withApplication: WithApplication): void {
  const projections = program.command('projections').description('Inspect, rebuild and compare read models');
  projections
    .command('status')
    .description('Show the position and state of every read model and reaction')
    .action(() => withApplication(({ services }) => status(services)));
  projections
    .command('rebuild <name>')
    .description('Rebuild a read model beside the live table, then serve the new one (`all` for every read model)')
    .option('--as-of <time|position>', 'stop at this time or position; needs --into')
    .option('--into <schema>', 'rebuild into this schema instead of replacing the live tables')
    .action(async (name: string, { asOf, into }: { asOf?: string; into?: string }) => {
      if (asOf && !into) throw new FailureError(invalid('--as-of', 'needs --into: the live tables show the present'));
      await withApplication(({ services }) =>
        rebuildModels(services, chosen(name, services.models), into, parseAsOf(asOf)),
      );
    });
  projections
    .command('diff [name]')
    .description('List every served row that differs from a replay of the log; exit code 1 if there is one')
    .action(async (name = 'all') => {
      const found = await withApplication(({ services }) =>
        diffModels(services, chosen(name as string, services.models)),
      );
      if (found > 0) process.exitCode = 1;
    });
  projections
    .command('retry <name>')
    .description(
      'Retry the parked streams of a read model or reaction; recorded in the audit log of each tenant concerned',
    )
    .option('--stream <stream>', 'only this stream; `projections status` lists them')
    .option('--reason <text>', 'for the audit log')
    .action(async (name: string, options: Omit<RetryRequest, 'name'>) => {
      const parked = await withApplication(({ services }) => retryParkedEvents(services, { name, ...options }));
      for (const { stream, events } of parked)
        console.log(`requested a retry of ${events} parked events of ${stream} in ${name}`);
      if (parked.length === 0) console.log(`nothing is parked in ${name}`);
    });
  projections
    .command('skip <name>')
    .description(
      "Skip the parked events of a reaction's stream, without their effects; recorded in the audit log of the tenant",
    )
    .requiredOption('--stream <stream>', 'the stream; `projections status` lists them')
    .requiredOption('--reason <text>', 'for the audit log: why these effects must not happen')
    .action(async (name: string, options: Omit<SkipRequest, 'name'>) => {
      const skipped = await withApplication(({ services }) => skipParkedEvents(services, { name, ...options }));
      for (const { stream, events, first, last, eventTypes } of skipped) {
        console.log(
          `skipped ${events} events of ${stream} in ${name}, positions ${first} to ${last} (${eventTypes.join(', ')}); recorded in the audit log`,
        );
      }
    });
}
