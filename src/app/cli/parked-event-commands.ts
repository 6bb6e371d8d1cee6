import type { Command } from 'commander';
import { retryParkedEvents, skipParkedEvents, type RetryRequest, type SkipRequest } from './parked-events.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { textUpTo } from './option-values.ts';
import type { DeadLetterSummary } from '../../platform/projector/dead-letter-operations.ts';

const MAX_REASON = 500;

const described = ({ stream, events, first, last, eventTypes }: DeadLetterSummary) => ({
  stream,
  events,
  firstPosition: first,
  lastPosition: last,
  eventTypes,
});

export function addParkedEventCommands(projections: Command, cli: CommandLine): void {
  performs(
    cli,
    projections
      .command('retry <name>')
      .description(
        'Retry the parked streams of a read model or reaction; recorded in the audit log of each tenant concerned',
      )
      .option('--stream <stream>', 'only this stream; `projections status` lists them')
      .option('--reason <text>', 'for the audit log', textUpTo(MAX_REASON)),
    'changes',
    async (output, name: string, { stream: only, reason }: Omit<RetryRequest, 'name'>) => {
      const parked = await cli.withApplication(({ services }) =>
        retryParkedEvents(services, { name, stream: only, reason }),
      );
      for (const { stream, events } of parked)
        output.say(`requested a retry of ${events} parked events of ${stream} in ${name}`);
      if (parked.length === 0) output.say(`nothing is parked in ${name}`);
      return { result: { name, requested: parked.map(described) } };
    },
  );
  performs(
    cli,
    projections
      .command('skip <name>')
      .description(
        "Skip the parked events of a reaction's stream, without their effects; recorded in the audit log of the tenant",
      )
      .requiredOption('--stream <stream>', 'the stream; `projections status` lists them')
      .requiredOption('--reason <text>', 'for the audit log: why these effects must not happen', textUpTo(MAX_REASON)),
    'changes',
    async (output, name: string, { stream: only, reason }: Omit<SkipRequest, 'name'>) => {
      const skipped = await cli.withApplication(({ services }) =>
        skipParkedEvents(services, { name, stream: only, reason }),
      );
      for (const { stream, events, first, last, eventTypes } of skipped)
        output.say(
          `skipped ${events} events of ${stream} in ${name}, positions ${first} to ${last} (${eventTypes.join(', ')}); recorded in the audit log`,
        );
      return { result: { name, skipped: skipped.map(described) } };
    },
    {
      question: (name, { stream }) => `The effects of the parked events of ${stream} in ${name} will never happen.`,
    },
  );
}
