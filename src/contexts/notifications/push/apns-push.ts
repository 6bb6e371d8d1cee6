import { importPKCS8, SignJWT } from 'jose';
import { z } from 'zod';
import { reasonOfFetch } from './fetch-reason.ts';
import { Http2Client, type Http2Response } from './http2-client.ts';
import { tryLater, type Push, type PushOutcome, type PushService } from './push-service.ts';

export interface ApnsSettings {
  /** PEM, PKCS#8: the `.p8` file of a token signing key. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
  /** The app's bundle id. */
  readonly topic: string;
  /** Origin of the service. */
  readonly url: string;
  /** PEM. Authorities to trust instead of the system's, for tests. */
  readonly ca?: string;
}

export const APNS_ORIGINS = {
  production: 'https://api.push.apple.com',
  sandbox: 'https://api.sandbox.push.apple.com',
} as const;

/** Apple refuses provider tokens older than an hour, and new ones more than once in 20 minutes. */
const TOKEN_MS = 40 * 60_000;
/** APNs stops trying to reach the device then: by then the alert is in the app. */
const EXPIRES_SECONDS = 3_600;
const DEVICE_TOKEN = /^[0-9a-fA-F]{64,200}$/;
const GONE = new Set(['Unregistered', 'ExpiredToken']);
const ABOUT_PROVIDER = new Set(['ExpiredProviderToken', 'InvalidProviderToken', 'MissingProviderToken']);
/** The message or its device cannot be served, whatever anybody repairs. */
const FINAL = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic', 'PayloadTooLarge', 'BadMessageId', 'BadCollapseId']);

const errorBody = z.object({ reason: z.string() });

/** Apple Push Notification service over HTTP/2, with provider tokens (ES256). */
export class ApnsPush implements PushService {
  readonly #settings: ApnsSettings;
  readonly #client: Http2Client;
  #provider: { readonly token: Promise<string>; readonly until: number } | undefined;

  constructor(settings: ApnsSettings) {
    this.#settings = settings;
    this.#client = new Http2Client(settings.url, settings.ca);
  }

  async send(push: Push, signal: AbortSignal): Promise<PushOutcome> {
    const { token, messageId, content } = push;
    if (!DEVICE_TOKEN.test(token)) return { kind: 'refused', reason: 'the push token is not one of APNs' };
    try {
      const response = await this.#client.post(
        `/3/device/${token.toLowerCase()}`,
        {
          authorization: `bearer ${await this.#providerToken()}`,
          'apns-topic': this.#settings.topic,
          'apns-push-type': 'alert',
          'apns-priority': content.isUrgent ? '10' : '5',
          'apns-expiration': String(Math.floor(Date.now() / 1_000) + EXPIRES_SECONDS),
          'apns-id': messageId,
          ...(content.alertId === null ? {} : { 'apns-collapse-id': content.alertId }),
        },
        JSON.stringify(payloadOf(push)),
        signal,
      );
      return this.#outcomeOf(response);
    } catch (error) {
      return { kind: 'deferred', reason: reasonOfFetch('APNs', error) };
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #outcomeOf({ status, headers, body }: Http2Response): PushOutcome {
    if (status === 200) return { kind: 'accepted', response: 'accepted by APNs (200)' };
    const reason = reasonIn(body);
    if (status === 410 && GONE.has(reason)) return { kind: 'gone' };
    if (ABOUT_PROVIDER.has(reason)) this.#provider = undefined;
    if (status === 429 || status >= 500) return tryLater(`APNs asks to try later (${status})`, headers['retry-after']);
    if (status === 413 || FINAL.has(reason)) return { kind: 'refused', reason: `APNs refused the message (${status})` };
    return { kind: 'deferred', reason: `APNs cannot be used as it is configured (${status})` };
  }

  #providerToken(): Promise<string> {
    const now = Date.now();
    if (!this.#provider || this.#provider.until <= now)
      this.#provider = { token: this.#signed(now), until: now + TOKEN_MS };
    return this.#provider.token;
  }

  async #signed(now: number): Promise<string> {
    const { key, keyId, teamId } = this.#settings;
    return new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(now / 1_000))
      .sign(await importPKCS8(key, 'ES256'));
  }
}

const payloadOf = ({ content: { title, body, data, isUrgent, alertId } }: Push): object => ({
  aps: {
    alert: { title, body },
    sound: 'default',
    'interruption-level': isUrgent ? 'time-sensitive' : 'active',
    ...(alertId === null ? {} : { 'thread-id': alertId }),
  },
  ...data,
});

function reasonIn(body: string): string {
  try {
    return errorBody.parse(JSON.parse(body)).reason;
  } catch {
    return '';
  }
}
