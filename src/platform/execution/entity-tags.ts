import { hash } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Command } from '../kernel/command.ts';
import type { DomainEvent } from '../kernel/event.ts';
import { stale } from '../kernel/failure.ts';

/** The tag of a state, as reads show it (RFC 9110 §8.8.3). Equal content has an equal tag in every process. */
export const entityTag = (shown: unknown): string =>
  `"${hash('sha256', canonicalJson(shown), 'base64url').slice(0, 22)}"`;

/**
 * The command, refused if its state has none of these tags. The check is part of the decision, so no change between it
 * and the append is overlooked. States that do not exist, and commands without `shown`, are decided as usual.
 */
export function onlyIfUnchanged<Input, State, E extends DomainEvent, Ports, Facts, Result>(
  command: Command<Input, State, E, Ports, Facts, Result>,
  tags: readonly string[],
): Command<Input, State, E, Ports, Facts, Result> {
  const { shown } = command;
  if (!shown) return command;
  return {
    ...command,
    decide(state, ...rest) {
      const now = shown(state);
      return now !== undefined && !tags.includes(entityTag(now)) ? stale() : command.decide(state, ...rest);
    },
  };
}
