// Runs in its own thread: see `threads/thread.ts`.
import { serveThread } from '../../../platform/threads/thread-server.ts';
import type { Expected } from './assertion-conditions.ts';
import { claimsOf, type ResponseClaims } from './unverified-claims.ts';
import { readResponse, type ReadResponse } from './read-response.ts';
import { SamlRefused, type SamlRefusal } from './refused.ts';

export type ResponseTask =
  | {
      readonly kind: 'read';
      readonly base64: string;
      readonly expected: Expected;
      readonly certificatesPem: readonly string[];
    }
  | { readonly kind: 'claims'; readonly base64: string };

/** A refusal as data: the class of an error does not survive the way between threads. */
export type ThreadResult =
  | { readonly read: ReadResponse }
  | { readonly claims: ResponseClaims }
  | { readonly refusal: SamlRefusal; readonly detail: string };

const answerTo = (request: ResponseTask): ThreadResult =>
  request.kind === 'claims'
    ? { claims: claimsOf(request.base64) }
    : { read: readResponse(request.base64, request.expected, request.certificatesPem) };

serveThread(() => (request: ResponseTask): Promise<ThreadResult> => {
  try {
    return Promise.resolve(answerTo(request));
  } catch (error) {
    if (error instanceof SamlRefused) return Promise.resolve({ refusal: error.reason, detail: error.detail });
    return Promise.reject(error as Error);
  }
});
