import { NO_STREAM, type AppendResult } from '@eventstore/db-client';
import { AppendRefused } from '../port.ts';
import type { AppendRequest } from './batch-request.ts';
import type { Client } from './client.ts';
import { abandonAfter } from './deadline.ts';
import { isTooLarge, wrongRevision } from './failures.ts';
import { positionOf } from './positions.ts';
import type { WriteConflict, WriteSucceeded } from './write-outcome.ts';

/** Sends an append in its own call, for servers without a batch call (before 21.10). */
export async function appendSingly(
  client: Client,
  { stream, expected, events }: AppendRequest,
  callMs: number,
): Promise<WriteSucceeded | WriteConflict> {
  const expectedRevision = expected < 0n ? NO_STREAM : expected;
  const options = { expectedRevision, requiresLeader: true, deadline: callMs } as const;
  try {
    return outcomeOf(await abandonAfter(callMs, client.appendToStream(stream, [...events], options)));
  } catch (error) {
    if (isTooLarge(error))
      throw new AppendRefused('the server takes no append of that size (its setting MaxAppendSize)', { cause: error });
    const actual = wrongRevision(error);
    if (actual === undefined) throw error;
    return { kind: 'wrongRevision', actual };
  }
}

function outcomeOf({ success, nextExpectedRevision, position }: AppendResult): WriteSucceeded | WriteConflict {
  // With throwOnAppendFailure=false in the URL, a wrong revision is a result, not an error.
  if (!success) return { kind: 'wrongRevision', actual: nextExpectedRevision };
  if (!position) throw new Error('the server returned no position for an append');
  return { kind: 'written', revision: nextExpectedRevision, position: positionOf(position.commit) };
}
