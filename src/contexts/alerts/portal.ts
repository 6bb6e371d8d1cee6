import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';

/** Where the portal is, and what it knows this installation by. From the environment: `PORTAL_URL`, `PORTAL_API_KEY`. */
export interface PortalSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** Choice OP-086. */
export interface PortalStatus {
  readonly configured: boolean;
  readonly connected: boolean;
  readonly portalUrl: string | null;
  readonly lastCheckedAt: string | null;
  readonly lastError: string | null;
}

/** Why the portal has not taken something, in fixed words. */
export class PortalUnavailable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PortalUnavailable';
  }
}

const CHECKED_FOR_MS = 10_000;
const MAX_ID_CHARACTERS = 200;

/**
 * The central portal that alerts are forwarded to: `POST {url}/api/v1/alerts`, answered 2xx with `{ id }`;
 * `GET {url}/api/v1/status` tells whether it is there. Both with the API key as a bearer token.
 */
export class Portal {
  readonly #settings: PortalSettings | undefined;
  readonly #fetch: GuardedFetch;
  #checked: { readonly at: number; readonly status: PortalStatus } | undefined;

  constructor(settings: PortalSettings | undefined, fetch: GuardedFetch) {
    this.#settings = settings;
    this.#fetch = fetch;
  }

  get isConfigured(): boolean {
    return this.#settings !== undefined;
  }

  /** Hands over a document; the portal knows a repetition by `deliveryId`. Answers the portal's id for it. Throws `PortalUnavailable`. */
  async deliver(deliveryId: string, document: object): Promise<string> {
    const answer = await this.#ask(
      'POST',
      'api/v1/alerts',
      { 'idempotency-key': deliveryId },
      JSON.stringify(document),
    );
    if (!answer.ok) throw new PortalUnavailable(refusal(answer.status));
    const { id = deliveryId } = ((await answer.json().catch(() => ({}))) ?? {}) as { id?: unknown };
    return String(id).slice(0, MAX_ID_CHARACTERS);
  }

  /** Asks the portal, unless it was asked within the last ten seconds. */
  async status(): Promise<PortalStatus> {
    if (!this.#settings)
      return { configured: false, connected: false, portalUrl: null, lastCheckedAt: null, lastError: null };
    if (!this.#checked || Date.now() - this.#checked.at > CHECKED_FOR_MS) {
      const lastError = await this.#ask('GET', 'api/v1/status', {}).then(
        ({ ok, status }) => (ok ? null : refusal(status)),
        (error: PortalUnavailable) => error.message,
      );
      const at = Date.now();
      const { origin, pathname } = new URL(this.#settings.url);
      const portalUrl = origin + pathname.replace(/\/$/, '');
      this.#checked = {
        at,
        status: {
          configured: true,
          connected: lastError === null,
          portalUrl,
          lastCheckedAt: new Date(at).toISOString(),
          lastError,
        },
      };
    }
    return this.#checked.status;
  }

  async #ask(method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: string): Promise<Response> {
    if (!this.#settings) throw new PortalUnavailable('no portal is configured');
    const { url, apiKey } = this.#settings;
    const sent: Record<string, string> = { accept: 'application/json', ...headers };
    if (apiKey) sent['authorization'] = `Bearer ${apiKey}`;
    if (body !== undefined) sent['content-type'] = 'application/json';
    try {
      return await this.#fetch(new URL(path, url.endsWith('/') ? url : `${url}/`), {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      throw new PortalUnavailable(error instanceof OutboundRefused ? error.message : 'the portal cannot be reached');
    }
  }
}

const refusal = (status: number): string =>
  status === 401 || status === 403 ? 'the portal refused the API key' : `the portal answered ${status}`;
