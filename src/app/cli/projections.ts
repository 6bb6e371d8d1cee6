import type { Command } from 'commander';
import { z } from 'zod';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';
import { diffModel, NotServed, type ModelDifference } from '../../platform/projector/diff.ts';
import { FailureError, invalid, notFound } from '../../platform/kernel/failure.ts';
import { rebuildInto, rebuildLive, rebuiltAlready, type AsOf } from '../../platform/projector/rebuild.ts';
import { CannotFold, type StreamSetAside } from '../../platform/projector/set-aside.ts';
import { addParkedEventCommands } from './parked-event-commands.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { confirm } from './confirmation.ts';
import { progressBar } from './progress-bar.ts';
import { projectionsStatus } from './projections-status.ts';
import type { Terminal } from './terminal.ts';
import type { Database } from '../../platform/database/database.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { Projector } from '../../platform/projector/projector.ts';

export interface ProjectionsCliDependencies {
  readonly database: Database;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly projector: Projector;
}

type Say = (line: string) => void;

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
  if (/^\d{1,18}$/.test(text)) return { position: BigInt(text) };
  // `Date.parse` takes 31 November for 1 December, and the table would show another day than the one that was asked for.
  const isTime = z.iso.datetime({ offset: true }).safeParse(text).success;
  const time = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new FailureError(invalid('--as-of', 'must be a position or an RFC 3339 time'));
  return { time };
}

interface Rebuild {
  readonly models: readonly AnyReadModel[];
  readonly into?: string | undefined;
  readonly asOf?: AsOf;
}

interface RebuiltModel {
  readonly model: string;
  readonly events: number;
  /** Streams whose events are missing in the table. */
  readonly parked: readonly StreamSetAside[];
}

const sentenceOf = ({ stream, position, error }: StreamSetAside): string =>
  `${stream} cannot be folded from position ${position} on: ${error}`;

/** Returns the number of events that each model was folded from. */
export async function rebuildModels(
  services: ProjectionsCliDependencies,
  { models, into, asOf = {} }: Rebuild,
  { terminal, say }: { readonly terminal: Terminal; readonly say: Say },
): Promise<RebuiltModel[]> {
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  const rebuilt: RebuiltModel[] = [];
  for (const model of models) {
    const bar = progressBar(terminal, model.name);
    let parked: readonly StreamSetAside[];
    try {
      if (into) parked = (await rebuildInto(parts, model, into, asOf, bar.show)).setAside;
      else parked = await rebuildLive(parts, services.projector, model, bar.show);
    } finally {
      bar.stop();
    }
    const events = bar.stop();
    // Without a terminal there is no bar, only this line.
    say(`rebuilt ${into ? `${into}.` : ''}${model.name}: ${events} events`);
    for (const one of parked) say(`        ${into ? 'left out' : 'parked'}: ${sentenceOf(one)}`);
    rebuilt.push({ model: model.name, events, parked });
  }
  return rebuilt;
}

const ADDED = `        "added" rows are in the table, but the log has no event for them. That is expected if retention has removed telemetry from the log (after a scavenge of EventStoreDB, for example): \`projections rebuild\` drops them. Investigate any other such row.`;

/** A model that could not be compared, and why. */
export interface UncomparedModel {
  readonly model: string;
  readonly reason: string;
}

/** Compares each model with a replay of the log. `say` gets the differences as they are found. */
export async function diffModels(
  services: ProjectionsCliDependencies,
  models: readonly AnyReadModel[],
  say: Say,
): Promise<(ModelDifference | UncomparedModel)[]> {
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  const compared: (ModelDifference | UncomparedModel)[] = [];
  for (const model of models) {
    const found = await diffModel(parts, model).catch(uncompared(model));
    compared.push(found);
    if ('reason' in found) {
      say(`UNKNOWN ${model.name}: ${found.reason}`);
      continue;
    }
    const { rows, position, differences, setAside } = found;
    say(`${differences.length === 0 ? 'same   ' : 'DIFFERS'} ${model.name}: ${rows} rows at position ${position}`);
    if (differences.some(({ kind }) => kind === 'added')) say(ADDED);
    for (const { kind, key, columns } of differences)
      say(`        ${kind} ${JSON.stringify(key)}${columns.length > 0 ? ` in ${columns.join(', ')}` : ''}`);
    for (const one of setAside) say(`        ${sentenceOf(one)}`);
  }
  return compared;
}

const uncompared =
  ({ name }: AnyReadModel) =>
  (error: unknown): UncomparedModel => {
    if (error instanceof CannotFold || error instanceof NotServed) return { model: name, reason: error.message };
    throw error;
  };

/** Rows that differ, streams that cannot be folded, and models that cannot be compared. */
export const differencesIn = (compared: readonly (ModelDifference | UncomparedModel)[]): number =>
  compared.reduce((sum, found) => sum + ('reason' in found ? 1 : found.differences.length + found.setAside.length), 0);

interface RebuildOptions {
  readonly asOf?: string;
  readonly into?: string;
  readonly yes?: true;
}

const NAMED_AT_MOST = 5;

/** Asks before tables of an earlier `--into` are replaced: they may show a moment that somebody still looks at. */
async function confirmReplacement(
  { database }: Pick<ProjectionsCliDependencies, 'database'>,
  models: readonly AnyReadModel[],
  schema: string,
  terminal: Terminal,
): Promise<void> {
  const found = await rebuiltAlready(database.projector, schema, models);
  if (found.length === 0) return;
  const names = found.length > NAMED_AT_MOST ? `${found.length} read models` : found.join(', ');
  await confirm(terminal, `This replaces the reconstruction of ${names} in the schema ${schema}.`);
}

export function addProjectionCommands(program: Command, cli: CommandLine): void {
  const projections = program.command('projections').description('Inspect, rebuild and compare read models');
  performs(
    cli,
    projections
      .command('status')
      .description(
        'Show the position and state of every read model and reaction; exit code 1 if one is halted or has parked streams',
      ),
    'looks',
    (output) => cli.withApplication(({ services }) => projectionsStatus(services, output)),
  );
  performs(
    cli,
    projections
      .command('rebuild <name>')
      .description('Rebuild a read model beside the live table, then serve the new one (`all` for every read model)')
      .option('--as-of <time|position>', 'stop at this time or position; needs --into')
      .option(
        '--into <schema>',
        'rebuild into this schema instead of replacing the live tables; asks before it replaces an earlier reconstruction there',
      ),
    'changes',
    async (output, name: string, { asOf, into, yes }: RebuildOptions) => {
      if (asOf && !into) throw new FailureError(invalid('--as-of', 'needs --into: the live tables show the present'));
      const until = parseAsOf(asOf);
      const rebuilt = await cli.withApplication(async ({ services }) => {
        const models = chosen(name, services.models);
        if (into && !yes) await confirmReplacement(services, models, into, output.terminal);
        return rebuildModels(services, { models, into, asOf: until }, output);
      });
      return { result: { schema: into ?? null, rebuilt } };
    },
    {
      question: (name, { into }) =>
        name === 'all' && !into
          ? 'This replaces every table that the service reads from, after folding the whole log again.'
          : undefined,
    },
  );
  performs(
    cli,
    projections
      .command('diff [name]')
      .description(
        'List every served row that differs from a replay of the log, and every stream that cannot be folded; exit code 1 if there is one',
      ),
    'looks',
    async (output, name: string | undefined) => {
      const models = await cli.withApplication(({ services }) =>
        diffModels(services, chosen(name ?? 'all', services.models), output.say),
      );
      return { result: { models }, isFinding: differencesIn(models) > 0 };
    },
  );
  addParkedEventCommands(projections, cli);
}
