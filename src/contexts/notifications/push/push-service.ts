import type { MobilePlatform } from '../../mobile/domain/events.ts';
import type { AttemptOutcome } from '../channel.ts';
import type { PushContent } from './push-content.ts';

/** One push to one device. */
export interface Push {
  readonly platform: MobilePlatform;
  /** A secret: never in a log or an error. */
  readonly token: string;
  readonly content: PushContent;
  /** A UUID, the same at every attempt. */
  readonly messageId: string;
}

/** `gone`: the service does not know the token any more and never will again. */
export type PushOutcome = AttemptOutcome | { readonly kind: 'gone' };

/** A service that reaches devices. Errors of the connection are outcomes too, in our own words. */
export interface PushService {
  send(push: Push, signal: AbortSignal): Promise<PushOutcome>;
  close(): Promise<void>;
}

/** RFC 9110 §10.2.3: seconds, or a date. In milliseconds, or undefined. */
export function retryAfterMs(header: string | null | undefined, now = Date.now()): number | undefined {
  if (header === null || header === undefined || header === '') return undefined;
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(wait) && wait > 0 ? wait : undefined;
}

/** An outcome that may be different later. */
export function tryLater(reason: string, header?: string | null): AttemptOutcome {
  const wait = retryAfterMs(header);
  return { kind: 'deferred', reason, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}
