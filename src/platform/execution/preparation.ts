import type { Command, CommandContext } from '../kernel/command.ts';
import type { DomainEvent } from '../kernel/event.ts';
import type { Failure } from '../kernel/failure.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** What a command reads and makes before it decides; what it made is undone if that fails. */
export async function prepare<Input, E extends DomainEvent, Ports, Facts>(
  command: Pick<Command<Input, never, E, Ports, Facts, unknown>, 'prepare'>,
  input: Input,
  context: CommandContext,
  unitOfWork: UnitOfWork<Ports>,
): Promise<Facts | Failure | undefined> {
  try {
    return command.prepare && (await command.prepare(input, unitOfWork.ports, context));
  } catch (error) {
    // Nothing was appended that refers to the secrets of this preparation.
    await unitOfWork.compensate().catch(() => undefined);
    throw error;
  }
}

/** Ignores errors of the compensation: leftover secrets do no harm, and the outcome is valid anyway. */
export async function afterCompensation<Outcome>(unitOfWork: UnitOfWork<unknown>, outcome: Outcome): Promise<Outcome> {
  await unitOfWork.compensate().catch(() => undefined);
  return outcome;
}
