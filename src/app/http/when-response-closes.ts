import type { ResponseHead } from './response-head.ts';

/**
 * Calls `then` once when the response has been sent or its client has gone: at once if that has already happened,
 * because the event is not repeated for late listeners. A client can leave during any `await` of a handler.
 */
export function whenResponseCloses({ raw }: Pick<ResponseHead, 'raw'>, then: () => void): void {
  if (raw.destroyed || raw.closed) then();
  else raw.once('close', then);
}
