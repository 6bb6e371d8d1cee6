import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { whenSomethingIsFoundRaiseAlert } from '../../../src/contexts/alerts/reactions/when-something-is-found-raise-alert.ts';
import { alertSeverityEvents } from '../../../src/contexts/settings/domain/alert-severity.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import type { AnyCommand } from '../../../src/platform/kernel/command.ts';
import { unavailable } from '../../../src/platform/kernel/failure.ts';
import { integer, text } from '../../../src/platform/kernel/read-model.ts';
import { defineReaction, effect, type AnyReaction } from '../../../src/platform/kernel/reaction.ts';
import { Checkpoints } from '../../../src/platform/projector/checkpoints.ts';
import { ReactionRunner, type EffectPorts } from '../../../src/platform/projector/reaction-runner.ts';
import { login, telemetry } from '../../dsl/observations.ts';
import { ledgerEvents, TENANTS } from './ledger.ts';
import {
  eventually,
  log,
  openProjectorApplication,
  type ProjectorApplication,
  type Process,
} from './projector-application.ts';

const greet = { name: 'greet' } as AnyCommand;
const opened = (entry: string) => ({
  type: 'EntryOpened',
  data: { entry, owner: 'bbbbbbbb-0000-4000-8000-000000000001', amount: 5 },
});

/** Greets each opening with its number. */
const greeter: AnyReaction = defineReaction({
  name: 'when-opened-greet',
  lane: 'main',
  families: [ledgerEvents],
  state: { columns: { stream: text, opened: integer }, key: ['stream'] },
  on: {
    EntryOpened: (event) => [
      {
        key: { stream: event.stream },
        react: (row) => {
          const count = (row?.opened ?? 0) + 1;
          return {
            row: { stream: event.stream, opened: count },
            effects: [effect(greet, `${event.data.entry} ${count}`)],
          };
        },
      },
    ],
  },
});

describe('a process that is frozen while it leads a reaction', () => {
  let application: ProjectorApplication;
  let asked: { readonly input: unknown; readonly id: string }[];
  const runners: ReactionRunner[] = [];
  beforeEach(async () => {
    asked = [];
    application = await openProjectorApplication([
      ledgerEvents,
      ...whenSomethingIsFoundRaiseAlert.families,
      alertSeverityEvents,
    ]);
  });
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    await application.close();
  });

  const run = async (
    { database, subscription }: Process,
    outcome: (input: unknown) => unknown = () => undefined,
    { reaction = greeter, execute }: { reaction?: AnyReaction; execute?: EffectPorts['execute'] } = {},
  ) => {
    const checkpoints = new Checkpoints(database.projector, randomUUID());
    const runner = new ReactionRunner(reaction, {
      pool: database.projector,
      checkpoints,
      subscription,
      trust: new LogTrust(),
      effects: {
        execute:
          execute ??
          (async (_command, input, { commandId }) => {
            asked.push({ input, id: commandId! });
            return outcome(input);
          }),
        enqueueWithin: async () => undefined,
      },
      log,
      alone: false,
    });
    runners.push(runner);
    await runner.prepare();
    runner.start();
    return checkpoints;
  };
  /** The next page that the process reads from the log is the last thing it does, and it renews its lease no more. */
  const freezeAfterNextPage = ({ subscription }: Process, checkpoints: Checkpoints) => {
    let thaw = () => {};
    const thawed = new Promise<void>((resolve) => (thaw = resolve));
    let isFrozen = false;
    const decode = subscription.decode.bind(subscription);
    vi.spyOn(subscription, 'decode').mockImplementation(async (stored) => {
      const events = await decode(stored);
      if (events.length === 0) return events;
      isFrozen = true;
      await thawed;
      return events;
    });
    vi.spyOn(checkpoints, 'renew').mockResolvedValue();
    return { thaw, frozen: () => eventually('it is frozen', () => isFrozen) };
  };
  const succeed = async (by: Process, to: bigint, over?: Parameters<typeof run>[2]) => {
    await application.sql(`update cursors set leased_until = '-infinity'`);
    await run(by, undefined, over);
    await application.reacted(to);
  };
  const resigned = async (checkpoints: Checkpoints, thaw: () => void) => {
    const acquire = vi.spyOn(checkpoints, 'acquire');
    thaw();
    await eventually('the former leader asks for the lease again', () => acquire.mock.calls.length > 0);
  };

  it('runs nothing on state that its successor has moved', async () => {
    const [first, second] = [await application.another(), await application.another()];
    const checkpoints = await run(first);
    await application.reacted(await application.happen('ledger-1', [opened('a')]));
    const { thaw, frozen } = freezeAfterNextPage(first, checkpoints);
    const head = await application.happen('ledger-1', [opened('b')]);
    await frozen();
    await succeed(second, head);
    await resigned(checkpoints, thaw);
    expect(asked.map(({ input }) => input)).toEqual(['a 1', 'b 2']);
  });

  it('runs nothing of a backlog on state that its successor has moved', async () => {
    const [first, second] = [await application.another(), await application.another()];
    let frozen: ReturnType<typeof freezeAfterNextPage> | undefined;
    const checkpoints: Checkpoints = await run(first, (input) => {
      if (input !== 'b 2') return undefined;
      frozen ??= freezeAfterNextPage(first, checkpoints);
      return unavailable();
    });
    await application.reacted(await application.happen('ledger-1', [opened('a')]));
    const head = await application.happen('ledger-1', [opened('b')]);
    await eventually('it is refused', () => frozen !== undefined);
    await frozen!.frozen();
    await succeed(second, head);
    await resigned(checkpoints, frozen!.thaw);
    expect(asked.map(({ input }) => input)).toEqual(['a 1', 'b 2', 'b 2']);
  });

  it('raises an alert, and does not count its finding as a repetition', async () => {
    const executing = ({ store, codec }: Process) => {
      const aggregates = new AggregateLoader(store, codec);
      const executor = new Executor<unknown>(store, codec, aggregates, String, () => ({
        ports: { aggregates },
        compensate: async () => {},
      }));
      const execute: EffectPorts['execute'] = (command, input, execution) =>
        executor.execute(command, input, execution);
      return { reaction: whenSomethingIsFoundRaiseAlert, execute };
    };
    const [first, second] = [await application.another(), await application.another()];
    const report = (domain: string) => {
      const found = login({ isBreached: true, domain });
      return application.happen(`deviceDay-${TENANTS[0]!}.1`, [telemetry([found])]);
    };
    const alerts = async () => (await application.everything()).filter(({ type }) => type.startsWith('Alert'));
    const checkpoints = await run(first, undefined, executing(first));
    await application.reacted(await report('a.example'));
    const { thaw, frozen } = freezeAfterNextPage(first, checkpoints);
    const head = await report('b.example');
    await frozen();
    await succeed(second, head, executing(second));
    await resigned(checkpoints, thaw);
    const raised = await alerts();
    expect(new Set(raised.map(({ id }) => id)).size, 'ids of events').toBe(raised.length);
    expect(raised.map(({ type }) => type)).toEqual(['AlertRaised', 'AlertRaised']);
  });
});
