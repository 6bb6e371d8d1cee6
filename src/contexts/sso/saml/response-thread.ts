// Runs in its own thread: see `threads/thread.ts`.
import { serveThread } from '../../../platform/threads/thread-server.ts';
import type { Expected } from './assertion-conditions.ts';
import { readResponse, type ReadResponse } from './read-response.ts';
import { SamlRefused, type SamlRefusal } from './refused.ts';

export interface ResponseToRead {
  readonly base64: string;
  readonly expected: Expected;
  readonly certificatesPem: readonly string[];
}

/** A refusal as data: the class of an error does not survive the way between threads. */
export type ResponseRead = { readonly read: ReadResponse } | { readonly refusal: SamlRefusal; readonly detail: string };

serveThread(() => ({ base64, expected, certificatesPem }: ResponseToRead): Promise<ResponseRead> => {
  try {
    return Promise.resolve({ read: readResponse(base64, expected, certificatesPem) });
  } catch (error) {
    if (error instanceof SamlRefused) return Promise.resolve({ refusal: error.reason, detail: error.detail });
    return Promise.reject(error as Error);
  }
});
