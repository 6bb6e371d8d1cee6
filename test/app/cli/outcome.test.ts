import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { EXIT_CODES, UnmetExpectation, Obstacle, endingOf, UsageError } from '../../../src/app/cli/outcome.ts';
import { OutputClosed } from '../../../src/app/cli/output.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { DataDirectoryInUse } from '../../../src/platform/embedded/ownership.ts';
import { EventContractError } from '../../../src/platform/eventstore/event-contract-error.ts';
import { EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import {
  conflict,
  FailureError,
  invalid,
  limited,
  notFound,
  unavailable,
} from '../../../src/platform/kernel/failure.ts';
import { CannotFold } from '../../../src/platform/projector/set-aside.ts';

const system = (over: object) => Object.assign(new Error('EXXX: of the system'), over);

describe('how a command ends', () => {
  it('is one of four exit codes', () => {
    expect(EXIT_CODES).toEqual({ fine: 0, finding: 1, usage: 2, unavailable: 3 });
  });

  it.each([
    ['a wrong value', new UsageError('wrong'), 'usage', 'wrong'],
    ['a wrong setting', new ConfigError('PORT: wrong'), 'usage', 'PORT: wrong'],
    [
      'an unknown name',
      new FailureError(notFound('not_found', 'there is no such tenant')),
      'usage',
      'there is no such tenant',
    ],
    ['a refused field', new FailureError(invalid('slug', 'is taken')), 'usage', 'validation failed: slug: is taken'],
    [
      'a state that forbids it',
      new FailureError(conflict('command_refused', 'no copy has been started')),
      'usage',
      'no copy has been started',
    ],
    [
      'an option that does not exist',
      new CommanderError(1, 'x', "error: unknown option '--x'\n(Did you mean --y?)"),
      'usage',
      "unknown option '--x' (Did you mean --y?)",
    ],
    ['a rebuild that cannot go on', new CannotFold('groups cannot fold it'), 'finding', 'groups cannot fold it'],
    [
      'a damaged event',
      new EventContractError('GroupCreated at group-1@0: name (invalid_type)'),
      'finding',
      'an event violates its contract: GroupCreated at group-1@0: name (invalid_type)',
    ],
    ['an unmet expectation', new UnmetExpectation('the demo expected more'), 'finding', 'the demo expected more'],
    [
      'a service that is behind',
      new FailureError(unavailable('service_unavailable', 'try again')),
      'unavailable',
      'try again',
    ],
    ['a used-up budget', new FailureError(limited(5)), 'unavailable', 'rate limit exceeded'],
    ['an interruption', new Obstacle('interrupted'), 'unavailable', 'interrupted'],
    ['a data directory in use', new DataDirectoryInUse('in use'), 'unavailable', 'in use'],
    [
      'a reader that has gone',
      new OutputClosed(),
      'unavailable',
      'the output was closed before everything was written',
    ],
    [
      'an unreachable database',
      system({ code: 'ECONNREFUSED', syscall: 'connect' }),
      'unavailable',
      'the database cannot be reached (EXXX: of the system)',
    ],
    [
      'a database that does not exist',
      system({ code: '3D000', severity: 'FATAL' }),
      'unavailable',
      'the database refused (EXXX: of the system)',
    ],
    [
      'a file of somebody else',
      system({ code: 'EACCES', syscall: 'open', path: '/data/x' }),
      'unavailable',
      '/data/x cannot be used (EACCES): check the path and its rights',
    ],
    [
      'such a file, behind another error',
      new Error('wrapped', { cause: system({ code: 'EACCES', syscall: 'open', path: '/data/x' }) }),
      'unavailable',
      '/data/x cannot be used (EACCES): check the path and its rights',
    ],
    [
      'a port in use',
      system({ code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 8080 }),
      'unavailable',
      '127.0.0.1:8080 is in use by another program: set PORT and TLS_PORT to free ports',
    ],
    [
      'a closed event store',
      new EventStoreUnavailable('the event store has been closed'),
      'unavailable',
      'the event store has been closed',
    ],
  ] as const)('%s', (_what, error, outcome, message) => {
    expect(endingOf(error)).toEqual({ outcome, message });
  });

  it("says the event store's own message, so that a wrong position is not mistaken for an outage", () => {
    const cause = new Error('2 UNKNOWN: Unexpected ReadAllResult: Error');
    expect(endingOf(new EventStoreUnavailable('the event store did not respond in time', { cause })).message).toBe(
      'the event store did not respond in time (2 UNKNOWN: Unexpected ReadAllResult: Error)',
    );
  });

  it('shows the stack of a defect, and asks to report it', () => {
    const { outcome, message } = endingOf(new Error('a defect'));
    expect([outcome, message]).toEqual([
      'unavailable',
      expect.stringMatching(/^unexpected error, please report it: Error: a defect\n\s+at /),
    ]);
  });
});
