import { DestinationFailed } from '../../../platform/outbound/explained-fetch.ts';
import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import { SinkFailed, type OutgoingRecord, type SinkRefusal } from './sink.ts';

export interface SinkRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Posts to a destination. Throws `SinkFailed` if it cannot be reached; every status is returned. */
export async function post(
  fetch: GuardedFetch,
  url: string,
  { headers, body, signal }: SinkRequest,
): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', headers, body, signal });
  } catch (error) {
    throw failed(error);
  }
}

export const failed = (error: unknown): SinkFailed =>
  error instanceof SinkFailed
    ? error
    : new SinkFailed(error instanceof DestinationFailed ? error.message : 'the address cannot be reached', {
        cause: error,
      });

/** What a status means for the destination as a whole. */
export function failureOfStatus(status: number): SinkFailed {
  if (status === 401 || status === 403) return new SinkFailed('the destination rejects the credential');
  if (status === 404 || status === 405 || status === 410)
    return new SinkFailed('the destination does not know the address');
  if (status === 429) return new SinkFailed('the destination limits requests');
  if (status >= 300 && status < 400) return new SinkFailed('the destination redirects, which is not followed');
  return new SinkFailed('the destination responds with an error');
}

/** Statuses that may concern the content of single records. */
export const isAboutContent = (status: number): boolean => status === 400 || status === 413 || status === 422;

/** More refused records in one batch than this, and something else is wrong: the stream stops, and loses nothing. */
const MAX_REFUSED_IN_BATCH = 20;

/**
 * Sends a batch. If it is refused, finds the refused records by halving it. `send` returns false for a batch that the
 * destination refuses for its content.
 */
export async function sendHalving(
  batch: readonly OutgoingRecord[],
  send: (part: readonly OutgoingRecord[]) => Promise<boolean>,
): Promise<readonly SinkRefusal[]> {
  const refused: SinkRefusal[] = [];
  const part = async (from: number, to: number): Promise<void> => {
    if (await send(batch.slice(from, to))) return;
    if (to - from === 1) {
      refused.push({ index: from, reason: 'the destination refuses the content' });
      if (refused.length > MAX_REFUSED_IN_BATCH) throw new SinkFailed('the destination refuses all records');
      return;
    }
    const middle = (from + to) >> 1;
    await part(from, middle);
    await part(middle, to);
  };
  await part(0, batch.length);
  return refused;
}

/** The members of a JSON response, if it is an object. */
export async function jsonObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const parsed: unknown = await response.json();
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
