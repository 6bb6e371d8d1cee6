import type { Command } from 'commander';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';
import { diffModel, type ModelDifference } from '../../platform/projector/diff.ts';
import { FailureError, invalid, notFound } from '../../platform/kernel/failure.ts';
import { rebuildInto, rebuildLive, type AsOf } from '../../platform/projector/rebuild.ts';
import { addParkedEventCommands } from './parked-event-commands.ts';
import { performs, type CommandLine } from './operator-command.ts';
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
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new FailureError(invalid('--as-of', 'must be a position or an RFC 3339 time'));
  return { time };
}

interface Rebuild {
  readonly models: readonly AnyReadModel[];
  readonly into?: string | undefined;
  readonly asOf?: AsOf;
}

/** Returns the number of events that each model was folded from. */
export async function rebuildModels(
  services: ProjectionsCliDependencies,
  { models, into, asOf = {} }: Rebuild,
  { terminal, say }: { readonly terminal: Terminal; readonly say: Say },
): Promise<{ model: string; events: number }[]> {
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  const rebuilt: { model: string; events: number }[] = [];
  for (const model of models) {
    const bar = progressBar(terminal, model.name);
    try {
      if (into) await rebuildInto(parts, model, into, asOf, bar.show);
      else await rebuildLive(parts, services.projector, model, bar.show);
    } finally {
      bar.stop();
    }
    const events = bar.stop();
    // Without a terminal there is no bar, only this line.
    say(`rebuilt ${into ? `${into}.` : ''}${model.name}: ${events} events`);
    rebuilt.push({ model: model.name, events });
  }
  return rebuilt;
}

const ADDED = `        "added" rows are in the table, but the log has no event for them. That is expected if retention has removed telemetry from the log (after a scavenge of EventStoreDB, for example): \`projections rebuild\` drops them. Investigate any other such row.`;

/** Compares each model with a replay of the log. `say` gets the differences as they are found. */
export async function diffModels(
  services: ProjectionsCliDependencies,
  models: readonly AnyReadModel[],
  say: Say,
): Promise<ModelDifference[]> {
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  const compared: ModelDifference[] = [];
  for (const model of models) {
    const found = await diffModel(parts, model);
    compared.push(found);
    const { rows, position, differences } = found;
    say(`${differences.length === 0 ? 'same   ' : 'DIFFERS'} ${model.name}: ${rows} rows at position ${position}`);
    if (differences.some(({ kind }) => kind === 'added')) say(ADDED);
    for (const { kind, key, columns } of differences)
      say(`        ${kind} ${JSON.stringify(key)}${columns.length > 0 ? ` in ${columns.join(', ')}` : ''}`);
  }
  return compared;
}

export const differencesIn = (compared: readonly ModelDifference[]): number =>
  compared.reduce((sum, { differences }) => sum + differences.length, 0);

interface RebuildOptions {
  readonly asOf?: string;
  readonly into?: string;
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
    (output) => cli.withApplication(({ services }) => projectionsStatus(services, output)),
  );
  performs(
    cli,
    projections
      .command('rebuild <name>')
      .description('Rebuild a read model beside the live table, then serve the new one (`all` for every read model)')
      .option('--as-of <time|position>', 'stop at this time or position; needs --into')
      .option('--into <schema>', 'rebuild into this schema instead of replacing the live tables'),
    async (output, name: string, { asOf, into }: RebuildOptions) => {
      if (asOf && !into) throw new FailureError(invalid('--as-of', 'needs --into: the live tables show the present'));
      const until = parseAsOf(asOf);
      const rebuilt = await cli.withApplication(({ services }) =>
        rebuildModels(services, { models: chosen(name, services.models), into, asOf: until }, output),
      );
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
      .description('List every served row that differs from a replay of the log; exit code 1 if there is one'),
    async (output, name: string | undefined) => {
      const models = await cli.withApplication(({ services }) =>
        diffModels(services, chosen(name ?? 'all', services.models), output.say),
      );
      return { result: { models }, isFinding: differencesIn(models) > 0 };
    },
  );
  addParkedEventCommands(projections, cli);
}
