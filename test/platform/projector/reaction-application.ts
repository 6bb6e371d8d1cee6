import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { AnyCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { asTenantId, type TenantId } from '../../../src/platform/kernel/ids.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { integer, text } from '../../../src/platform/kernel/read-model.ts';
import { defineReaction, effect, type AnyReaction } from '../../../src/platform/kernel/reaction.ts';
import { Checkpoints } from '../../../src/platform/projector/checkpoints.ts';
import { DeadLetterOperations } from '../../../src/platform/projector/dead-letter-operations.ts';
import { ReactionRunner, type EffectPorts } from '../../../src/platform/projector/reaction-runner.ts';
import { TenantBacklogs } from '../../../src/platform/projector/tenant-backlogs.ts';
import {
  eventually,
  log,
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from './projector-application.ts';

/** An example domain: a visitor rings at a door, `times` times. */
export const bellEvents = defineEvents('bell', {
  Rung: { version: 1, schema: z.object({ door: z.string(), who: z.string(), times: z.int() }), audit: false },
});
export const rung = (who: string, times = 1, door = 'front') => ({ type: 'Rung', data: { door, who, times } });

const answer = { name: 'answer' } as AnyCommand;
const mail = { name: 'mail', data: z.string() };

/**
 * Counts the rings at each door, in whatever stream, and responds to every one with its number. `bad fold` cannot be
 * folded.
 */
export const porter: AnyReaction = defineReaction({
  name: 'when-rung-answer',
  lane: 'main',
  families: [bellEvents],
  state: { columns: { door: text, rings: integer }, key: ['door'] },
  on: {
    Rung: ({ data: { door, who, times } }) => [
      {
        key: { door },
        react: (row) => {
          if (who === 'bad fold' && !cure.isCured) throw new Error('cannot fold bad fold');
          const before = row?.rings ?? 0;
          const numbers = Array.from({ length: times }, (_, at) => before + at + 1);
          // No integer column can store it.
          const rings = who === 'bad row' && !cure.isCured ? 2 ** 40 : before + times;
          return {
            row: { door, rings },
            effects: [...numbers.map((number) => effect(answer, `${who} ${number}`)), enqueue(mail, who)],
          };
        },
      },
    ],
  },
});
export const cure = { isCured: false };

export const tenant = (number: number): TenantId =>
  asTenantId(`aaaaaaaa-0000-4000-8000-${String(number).padStart(12, '0')}`);

export interface Asked {
  readonly tenantId: TenantId;
  readonly input: string;
  readonly id: string;
}

export interface ReactionApplication extends ProjectorApplication {
  /** The requested effects, in this order. */
  readonly asked: Asked[];
  readonly inputs: () => string[];
  /** A runner whose effects are recorded, and then do what `fault` does. Stopped with the application. */
  runner(
    fault?: (one: Asked) => unknown,
    over?: {
      process?: Process;
      alone?: boolean;
      reaction?: AnyReaction;
      trust?: LogTrust;
      /** The runner prepares its reaction itself, once it is started. */
      whilePreparing?: () => void;
    },
  ): Promise<ReactionRunner>;
  readonly deadLetters: DeadLetterOperations;
  readonly backlogs: TenantBacklogs;
  /** Waits until everything that was appended is processed or parked. */
  worked(): Promise<void>;
  /** Door and rings of every tenant, by the last digit of its id. */
  rings(): Promise<Record<string, number>>;
  mail(): Promise<string[]>;
}

export async function openReactionApplication(): Promise<ReactionApplication> {
  cure.isCured = false;
  const application = await openProjectorApplication([bellEvents]);
  await application.sql('create table mail (id text primary key, entry text)');
  await application.sql('grant all on mail to castellan_projector');
  const asked: Asked[] = [];
  const runners: ReactionRunner[] = [];
  const effects = (fault: (one: Asked) => unknown): EffectPorts => ({
    execute: async (_command, input, { commandId, tenantId }) => {
      const one = { tenantId, input: input as string, id: commandId! };
      asked.push(one);
      return fault(one);
    },
    enqueueWithin: async (client, { data }, { id }) => {
      await client.query('insert into mail values ($1, $2)', [id, data]);
    },
  });
  const backlogs = new TenantBacklogs(application.database.projector);
  return {
    ...application,
    asked,
    inputs: () => asked.map(({ input }) => input),
    deadLetters: new DeadLetterOperations(application.database.projector),
    backlogs,
    async runner(
      fault = () => undefined,
      { process = application, alone = true, reaction = porter, trust = new LogTrust(), whilePreparing } = {},
    ) {
      const { database, subscription } = process;
      const checkpoints = new Checkpoints(database.projector, randomUUID());
      const ensure = checkpoints.ensure.bind(checkpoints);
      checkpoints.ensure = (...given) => (whilePreparing?.(), ensure(...given));
      const runner = new ReactionRunner(reaction, {
        pool: database.projector,
        checkpoints,
        subscription,
        trust,
        effects: effects(fault),
        log,
        alone,
      });
      runners.push(runner);
      if (!whilePreparing) await runner.prepare();
      return runner;
    },
    async worked() {
      const head = await application.store.head();
      await eventually('everything is worked or parked', async () => {
        const [row] = await application.sql(
          `select position::text as p from cursors where kind = 'reaction' and state = 'live'`,
        );
        return row !== undefined && BigInt(row['p'] as string) >= head && (await backlogs.counts()).size === 0;
      });
    },
    async rings() {
      const rows = await application.sql('select tenant_id, door, rings from when_rung_answer_state_v1 order by 1, 2');
      return Object.fromEntries(
        rows.map(({ tenant_id, door, rings }) => [
          `${(tenant_id as string).at(-1)} ${door as string}`,
          rings as number,
        ]),
      );
    },
    mail: async () =>
      (await application.sql('select entry from mail order by entry')).map(({ entry }) => entry as string),
    async close() {
      await Promise.all(runners.map((runner) => runner.stop()));
      await application.close();
    },
  };
}
