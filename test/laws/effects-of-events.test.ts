import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { reactions } from '../../src/contexts/reactions.ts';
import type { CommandContext } from '../../src/platform/kernel/command.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import type { AnyReaction, CommandRequest, Effect, StatefulStep, Step } from '../../src/platform/kernel/reaction.ts';
import { foldHistories, present, type Folding } from '../dsl/fold-histories.ts';

/** They issue jobs only, apart from two that no sample makes issue a command (`RaiseAlert`, `RecordPasswordReuse`). */
const WITHOUT_COMMANDS: readonly string[] = [
  'alert-pushes',
  'enrollment-token-watch',
  'password-reuse-detection',
  'webhook-replays',
  'when-directory-source-deleted-release-people',
  'when-person-erased-forget-telemetry',
  'when-person-leaves-forget-screenshots',
  'when-scim-client-deleted-release-people',
  'when-update-begun-run-it',
  'when-update-download-begun-fetch-it',
];

type Row = Record<string, unknown>;
interface Issued {
  readonly event: RecordedEvent;
  readonly effect: Effect;
}

/** The effects of a reaction in all histories of samples, in order. */
function effectsOf(reaction: AnyReaction): Issued[] {
  const issued: Issued[] = [];
  const handlers = reaction.on as Readonly<Record<string, (event: RecordedEvent) => readonly Step<Row, string>[]>>;
  const watched = Object.entries(handlers).map(([type, handle]) => {
    const note = (event: RecordedEvent, effects: readonly Effect[]) =>
      issued.push(...effects.map((effect) => ({ event, effect })));
    const watching = (event: RecordedEvent) =>
      handle(event).map((step) => {
        if ('effects' in step) note(event, step.effects);
        if (!('react' in step)) return step;
        const react: StatefulStep<Row, string>['react'] = (row) => {
          const result = step.react(row);
          note(event, result.effects);
          return result;
        };
        return { ...step, react };
      });
    return [type, watching] as const;
  });
  foldHistories({ key: reaction.state?.key ?? [], on: Object.fromEntries(watched) as Folding['on'] }, present);
  return issued;
}

const effectsOfAll = () => new Map(reactions.map((reaction) => [reaction, effectsOf(reaction)]));

/** A repeated effect has the id of its first run: it must be the same command, on the stream where the first one appended. */
describe('an effect that runs again', () => {
  let first: ReadonlyMap<AnyReaction, readonly Issued[]>;
  beforeAll(() => void (first = effectsOfAll()));

  it('is the same: effects follow from event and state alone', async () => {
    const inWords = (all: typeof first) =>
      [...all].map(([{ name }, effects]) => [
        name,
        effects.map(({ event, effect }) =>
          JSON.stringify([event.id, 'command' in effect ? [effect.command.name, effect.input] : effect]),
        ),
      ]);
    await sleep(5);
    expect(inWords(effectsOfAll())).toEqual(inWords(first));
  });

  it('goes to the same stream: it follows from the input and the tenant', () => {
    const inContext = ({ command, input }: CommandRequest, { tenantId, metadata }: RecordedEvent, now: number) => {
      const id = randomUUID();
      const context: CommandContext = {
        tenantId,
        actor: { kind: 'system', id },
        now,
        id,
        correlationId: metadata.correlationId,
        causationId: id,
      };
      return command.stream(input, context);
    };
    const without: string[] = [];
    for (const [reaction, effects] of first) {
      const commands = effects.flatMap(({ event, effect }) => ('command' in effect ? [{ event, effect }] : []));
      if (commands.length === 0) without.push(reaction.name);
      for (const { event, effect } of commands)
        expect(inContext(effect, event, 0), `${reaction.name}: ${effect.command.name}`).toBe(
          inContext(effect, event, 86_400_000),
        );
    }
    expect(without.toSorted()).toEqual(WITHOUT_COMMANDS);
  });
});
