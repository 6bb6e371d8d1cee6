import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import { tryLater, type Push, type PushOutcome, type PushService } from './push-service.ts';
import { reasonOfFetch } from './fetch-reason.ts';

export interface PushGatewaySettings {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token: string | undefined;
}

const GONE = 410;
const MAY_PASS = new Set([408, 425, 429]);

/**
 * A gateway that the operator runs (OP-193). It gets one POST for each push, with an `Idempotency-Key` that is the same
 * at every attempt, and returns 2xx once it has taken over, 410 for a token that is gone, 429 or 5xx to be asked again.
 */
export class GatewayPush implements PushService {
  readonly #settings: PushGatewaySettings;
  readonly #fetch: GuardedFetch;

  constructor(settings: PushGatewaySettings, fetch: GuardedFetch) {
    this.#settings = settings;
    this.#fetch = fetch;
  }

  async send({ platform, token, content, messageId }: Push, signal: AbortSignal): Promise<PushOutcome> {
    const { title, body, isUrgent, data } = content;
    const { url, token: secret } = this.#settings;
    try {
      const { status, headers } = await this.#fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': messageId,
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        },
        body: JSON.stringify({
          id: messageId,
          platform,
          token,
          notification: { title, body },
          data,
          priority: isUrgent ? 'high' : 'normal',
        }),
        signal,
      });
      if (status >= 200 && status < 300) return { kind: 'accepted', response: `accepted by the gateway (${status})` };
      if (status === GONE) return { kind: 'gone' };
      if (status >= 500 || MAY_PASS.has(status))
        return tryLater(`the gateway asks to try later (${status})`, headers.get('retry-after'));
      // A wrong address or token of the gateway is repaired by the operator: the message must not be lost by then.
      if (status < 400 || status === 401 || status === 403 || status === 404)
        return tryLater(`the gateway cannot be used as it is configured (${status})`);
      return { kind: 'refused', reason: `the gateway refused the message (${status})` };
    } catch (error) {
      return { kind: 'deferred', reason: reasonOfFetch('the gateway', error) };
    }
  }

  async close(): Promise<void> {
    // Nothing stays open.
  }
}
