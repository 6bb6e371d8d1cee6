import type { AnyCommand } from '../../src/platform/kernel/command.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import type { AnyReaction, Effect } from '../../src/platform/kernel/reaction.ts';
import type { EventFor } from './given.ts';

type Row = Record<string, unknown>;
type Step =
  | { key: Row; react: (row: Row | undefined) => { row: Row | undefined; effects: readonly Effect[] } }
  | { effects: readonly Effect[] }
  | { purge: Row };

/** The commands that a reaction requests for these events, in order, with its state in memory. */
export function reactTo<Reacting extends AnyReaction>(
  reaction: Reacting,
  events: readonly EventFor<Reacting>[],
): { command: AnyCommand; input: unknown }[] {
  const on = reaction.on as Record<string, ((event: RecordedEvent) => readonly Step[]) | undefined>;
  const rows = new Map<string, Row>();
  const commands: { command: AnyCommand; input: unknown }[] = [];
  const take = (effects: readonly Effect[]) => {
    for (const effect of effects) if ('command' in effect) commands.push(effect);
  };
  for (const event of events) {
    for (const step of on[event.type]?.(event) ?? []) {
      if ('purge' in step) {
        for (const [name, row] of rows)
          if (Object.entries(step.purge).every(([column, value]) => row[column] === value)) rows.delete(name);
      } else if ('key' in step) {
        const name = JSON.stringify([event.tenantId, step.key]);
        const { row, effects } = step.react(rows.get(name));
        // As the engine stores it: values that are not JSON would be lost.
        if (row) rows.set(name, JSON.parse(JSON.stringify(row)) as Row);
        else rows.delete(name);
        take(effects);
      } else take(step.effects);
    }
  }
  return commands;
}
