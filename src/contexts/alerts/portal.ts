import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';

/** The portal's address and the API key of this installation: `PORTAL_URL`, `PORTAL_API_KEY`. */
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

/** The portal did not accept a request. Messages are fixed texts. */
export class PortalUnavailable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PortalUnavailable';
  }
}

const CHECKED_FOR_MS = 10_000;
const MAX_ID_CHARACTERS = 200;

/**
 * The central portal that alerts are forwarded to. `POST {url}/api/v1/alerts` returns 2xx with `{ id }`; `GET
 * {url}/api/v1/status` is the health check. Both requests carry the API key as a bearer token.
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

  /**
   * Delivers a document and returns the portal's id for it. The portal recognizes a repetition by `deliveryId`. Throws
   * `PortalUnavailable`.
   */
  async deliver(deliveryId: string, document: object): Promise<string> {
    const response = await this.#ask(
      'POST',
      'api/v1/alerts',
      { 'idempotency-key': deliveryId },
      JSON.stringify(document),
    );
    if (!response.ok) throw new PortalUnavailable(refusal(response.status));
    const { id = deliveryId } = ((await response.json().catch(() => ({}))) ?? {}) as { id?: unknown };
    return String(id).slice(0, MAX_ID_CHARACTERS);
  }

  /** Checks the portal's status. The result is cached for ten seconds. */
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
  status === 401 || status === 403 ? 'the portal refused the API key' : `the portal returned status ${status}`;
