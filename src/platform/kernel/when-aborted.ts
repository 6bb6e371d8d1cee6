/**
 * Calls `then` once when the signal is aborted; if it already is, right after the running code, because its event is not
 * repeated for late listeners. Returns a function that stops waiting.
 */
export function whenAborted(signal: AbortSignal, then: () => void): () => void {
  if (!signal.aborted) {
    signal.addEventListener('abort', then, { once: true });
    return () => signal.removeEventListener('abort', then);
  }
  let isAwaited = true;
  queueMicrotask(() => isAwaited && then());
  return () => void (isAwaited = false);
}
