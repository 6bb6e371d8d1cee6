import { createHmac } from 'node:crypto';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { OneTimeTokens } from '../../identity/one-time-tokens.ts';
import { tenantOfToken } from '../../identity/refresh-tokens.ts';
import { refuseSaml } from './refused.ts';

/** A sign-in that was started here and has not returned yet. */
export interface PendingRequest {
  readonly tenantId: TenantId;
  readonly configId: string;
  /** Digest of the browser's secret, if the sign-in page started it; null if the response is JSON. */
  readonly browser: string | null;
  /** True if the user has to authenticate at the provider again, even with a session there. */
  readonly reauthenticates: boolean;
  /** Of the configuration; undefined if a process of the version before began the sign-in. */
  readonly version: number | undefined;
}
export interface OpenRequest extends PendingRequest {
  /** The id of the AuthnRequest, which the response contains as `InResponseTo`. */
  readonly requestId: string;
  /** Of the relay state, by this response. */
  readonly useId: string;
}

/** OP-034. */
const SECONDS = 10 * 60;
/** Responses to one request. A browser posts one, or a second after "reload". */
const RESPONSES = 8;

/**
 * The open requests.
 *
 * The relay state is a one-time token, stored as a digest; the request's id is a MAC of it. So a response has to come
 * with the relay state of the same request. It is not parsed before that request is known to be open. Only one response
 * to it is accepted, and a few wrong ones are looked at.
 */
export class PendingRequests {
  readonly #tokens: OneTimeTokens;
  readonly #key: Buffer;

  constructor(tokens: OneTimeTokens, key: Buffer) {
    this.#tokens = tokens;
    this.#key = key;
  }

  /** `relayState` has 67 octets: Bindings §3.4.3 allows 80. */
  async open({
    tenantId,
    configId,
    browser,
    reauthenticates,
    version,
  }: PendingRequest): Promise<{ readonly requestId: string; readonly relayState: string }> {
    const token = await this.#tokens.issue(
      'saml-request',
      { tenantId, subjectId: configId, payload: { browser, reauthenticates, version } },
      SECONDS,
      RESPONSES,
    );
    return { requestId: this.#requestId(token), relayState: `${browser === null ? 'j' : 'p'}${token}` };
  }

  /** Finds the request of a response, and counts the response. Throws `SamlRefused`. */
  async find(relayState: string): Promise<OpenRequest> {
    const token = relayState.slice(1);
    const found =
      (await this.#tokens.spend('saml-request', token)) ??
      refuseSaml('not_requested', 'the request is unknown, expired, used, or had too many wrong responses');
    const { tenantId, subjectId: configId, payload, useId } = found;
    const browser = typeof payload['browser'] === 'string' ? payload['browser'] : null;
    return {
      tenantId,
      configId,
      browser,
      reauthenticates: payload['reauthenticates'] === true,
      version: typeof payload['version'] === 'number' ? payload['version'] : undefined,
      requestId: this.#requestId(token),
      useId,
    };
  }

  /** For a response that nobody could look at, or that something away has kept from its effect: it does not count. */
  async giveBack(relayState: string, { useId }: Pick<OpenRequest, 'useId'>): Promise<void> {
    await this.#tokens.giveBack('saml-request', relayState.slice(1), { useId });
  }

  /** Uses up the request, until this response is given back. Throws `SamlRefused` for every response after the first. */
  async close(relayState: string, response: Pick<OpenRequest, 'useId'>): Promise<void> {
    if (!(await this.#tokens.finish('saml-request', relayState.slice(1), response)))
      refuseSaml('replayed', 'the request was already used');
  }

  /** An NCName starts with a letter or "_". */
  #requestId(token: string): string {
    return `_${createHmac('sha256', this.#key).update(token).digest('hex')}`;
  }
}

/**
 * The unverified prefix of a relay state, also of a finished request: only decides how a refusal is shown. A provider's own
 * text may begin with the same letter.
 */
export const samlStartedOnPage = (relayState: string): boolean =>
  relayState.startsWith('p') && isRelayState(relayState);

/** True for the form of a relay state of ours, whether or not it is open. A provider may send one of its own. */
export const isRelayState = (relayState: string): boolean => claimedTenant(relayState) !== undefined;

/** The tenant that a relay state claims: not verified. */
export const claimedTenant = (relayState: string): TenantId | undefined =>
  /^[jp]/.test(relayState) ? tenantOfToken(relayState.slice(1)) : undefined;
