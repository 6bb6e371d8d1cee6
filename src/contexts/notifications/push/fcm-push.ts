import { importPKCS8, SignJWT } from 'jose';
import { z } from 'zod';
import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { GoogleServiceAccount } from '../../directory-sources/domain/google-service-account.ts';
import { reasonOfFetch } from './fetch-reason.ts';
import { tryLater, type Push, type PushOutcome, type PushService } from './push-service.ts';

export interface FcmSettings {
  readonly projectId: string;
  readonly account: GoogleServiceAccount;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export const FCM_API = 'https://fcm.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const ASSERTION_SECONDS = 300;
/** An access token is not used in its last minute. */
const MARGIN_MS = 60_000;
/** A push that could not be shown within an hour is of no use: the alert is in the app. */
const TTL = '3600s';

const tokenResponse = z.object({ access_token: z.string().max(8_192), expires_in: z.number().positive() });
const errorResponse = z.object({
  error: z.object({
    details: z.array(z.object({ errorCode: z.string().optional() }).loose()).optional(),
  }),
});

/**
 * Firebase Cloud Messaging, HTTP v1: `projects.messages.send` as a service account (RFC 7523 assertion for an access
 * token, which is used until shortly before its end).
 */
export class FcmPush implements PushService {
  readonly #settings: FcmSettings;
  readonly #fetch: GuardedFetch;
  #access: Promise<{ readonly token: string; readonly until: number }> | undefined;

  constructor(settings: FcmSettings, fetch: GuardedFetch) {
    this.#settings = settings;
    this.#fetch = fetch;
  }

  async send(push: Push, signal: AbortSignal): Promise<PushOutcome> {
    const { projectId, apiUrl } = this.#settings;
    try {
      const access = await this.#accessToken();
      const response = await this.#fetch(`${apiUrl}/v1/projects/${encodeURIComponent(projectId)}/messages:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${access}` },
        body: JSON.stringify({ message: messageOf(push) }),
        signal,
      });
      return await this.#outcomeOf(response);
    } catch (error) {
      if (error instanceof AccessRefused) return { kind: 'deferred', reason: error.message };
      return { kind: 'deferred', reason: reasonOfFetch('FCM', error) };
    }
  }

  async close(): Promise<void> {
    // Nothing stays open.
  }

  async #outcomeOf(response: Response): Promise<PushOutcome> {
    const { status, headers } = response;
    if (status === 200) return { kind: 'accepted', response: 'accepted by FCM (200)' };
    const code = await errorCodeOf(response);
    if (status === 404 && code === 'UNREGISTERED') return { kind: 'gone' };
    if (status === 401) this.#access = undefined;
    if (status === 429 || status >= 500)
      return tryLater(`FCM asks to try later (${status})`, headers.get('retry-after'));
    if (status === 400 || code === 'SENDER_ID_MISMATCH')
      return { kind: 'refused', reason: `FCM refused the message (${status})` };
    return { kind: 'deferred', reason: `FCM cannot be used as it is configured (${status})` };
  }

  async #accessToken(): Promise<string> {
    const known = await this.#access?.catch(() => undefined);
    if (known && known.until > Date.now()) return known.token;
    const requested = this.#requestAccess();
    this.#access = requested;
    try {
      return (await requested).token;
    } catch (error) {
      if (this.#access === requested) this.#access = undefined;
      throw error;
    }
  }

  async #requestAccess(): Promise<{ readonly token: string; readonly until: number }> {
    const { clientEmail, privateKey, keyId, tokenUri } = this.#settings.account;
    const now = Date.now();
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId === null ? {} : { kid: keyId }) })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(Math.floor(now / 1_000))
      .setExpirationTime(Math.floor(now / 1_000) + ASSERTION_SECONDS)
      .sign(await importPKCS8(privateKey, 'RS256'));
    const response = await this.#fetch(tokenUri, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion,
      }).toString(),
    });
    const { data } = tokenResponse.safeParse(await response.json().catch(() => undefined));
    if (response.status !== 200 || !data)
      throw new AccessRefused(`Google does not accept the service account (${response.status})`);
    return { token: data.access_token, until: now + data.expires_in * 1_000 - MARGIN_MS };
  }
}

class AccessRefused extends Error {}

const messageOf = ({ token, content: { title, body, data, isUrgent, alertId } }: Push): object => ({
  token,
  notification: { title, body },
  data,
  android: { priority: isUrgent ? 'HIGH' : 'NORMAL', ttl: TTL, ...(alertId === null ? {} : { collapse_key: alertId }) },
});

async function errorCodeOf(response: Response): Promise<string | undefined> {
  const { data } = errorResponse.safeParse(await response.json().catch(() => undefined));
  return data?.error.details?.find(({ errorCode }) => errorCode !== undefined)?.errorCode;
}
