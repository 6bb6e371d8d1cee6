import { describe, expect, it } from 'vitest';
import { describeError } from '../../../src/app/cli/application.ts';
import { EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import { conflict, FailureError } from '../../../src/platform/kernel/failure.ts';

describe('the error message of a command', () => {
  it("is one sentence for an outage of the event store, with the server's message", () => {
    const cause = new Error('2 UNKNOWN: Unexpected ReadAllResult: Error');
    expect(describeError(new EventStoreUnavailable('the event store did not respond in time', { cause }))).toBe(
      'the event store did not respond in time (2 UNKNOWN: Unexpected ReadAllResult: Error)',
    );
    expect(describeError(new EventStoreUnavailable('the event store has been closed'))).toBe(
      'the event store has been closed',
    );
  });

  it('is the reason of a refusal, and the stack of anything else', () => {
    expect(describeError(new FailureError(conflict('command_refused', 'no copy has been started')))).toBe(
      'no copy has been started',
    );
    expect(describeError(new Error('a defect'))).toMatch(/a defect\n\s+at /);
  });
});
