import { LogNotTrusted, type LogTrust } from '../../platform/eventstore/log-trust.ts';
import { FailureError } from '../../platform/kernel/failure.ts';

/**
 * Commands are refused as "unavailable" while the log is in doubt, since whoever calls the API may not learn why. The
 * operator may, and has to.
 */
export async function sayingDoubt<T>(trust: LogTrust, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { doubt } = trust;
    if (doubt && error instanceof FailureError && error.failure.kind === 'unavailable')
      throw new LogNotTrusted(doubt.reason);
    throw error;
  }
}
