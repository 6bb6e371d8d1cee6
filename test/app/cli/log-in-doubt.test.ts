import { describe, expect, it } from 'vitest';
import { sayingDoubt } from '../../../src/app/cli/log-in-doubt.ts';
import { endingOf } from '../../../src/app/cli/outcome.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import { FailureError, temporarilyUnavailable } from '../../../src/platform/kernel/failure.ts';

const unavailable = () => Promise.reject(new FailureError(temporarilyUnavailable()));
const endingWith = (trust: LogTrust, work: () => Promise<unknown>) =>
  sayingDoubt(trust, work).then(
    () => 'done',
    (error: unknown) => endingOf(error),
  );

describe('a command that is refused while the log is in doubt', () => {
  it('says what the doubt is', async () => {
    const trust = new LogTrust();
    trust.contradicted('log_older', 'it ends at 3');
    expect(await endingWith(trust, unavailable)).toEqual({
      outcome: 'unavailable',
      message: 'the event log cannot be trusted: it ends at 3; `castellan restore status` shows how to recover',
    });
  });

  it('keeps every other reason', async () => {
    const trust = new LogTrust();
    expect(await endingWith(trust, unavailable)).toMatchObject({ message: 'service unavailable' });
    expect(await endingWith(trust, () => Promise.resolve(1))).toBe('done');
    trust.contradicted('log_older', 'it ends at 3');
    expect(await endingWith(trust, () => Promise.reject(new RangeError('other')))).toMatchObject({
      message: expect.stringContaining('RangeError: other') as string,
    });
  });
});
