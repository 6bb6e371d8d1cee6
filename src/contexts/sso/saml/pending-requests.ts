import { createHmac } from 'node:crypto';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { OneTimeTokens } from '../../identity/one-time-tokens.ts';
import { refuseSaml } from './refused.ts';

/** A sign-in that was started here and has not come back yet. */
export interface PendingRequest {
  readonly tenantId: TenantId;
  readonly configId: string;
  /** Digest of the secret of the browser that started on the sign-in page, where it did; otherwise the answer is JSON. */
  readonly browser: string | null;
  /** Whether the person has to authenticate at the provider anew, whatever session they have there. */
  readonly reauthenticates: boolean;
}
export interface OpenRequest extends PendingRequest {
  /** The id of the AuthnRequest: a response names it in `InResponseTo`. */
  readonly requestId: string;
}

/** Choice OP-034. */
const SECONDS = 10 * 60;

/**
 * The requests that a response may answer. The relay state is a one-time token, kept as a digest; the request's id is a
 * MAC of it. So a response has to come with the relay state of the very request that its provider was asked, is not
 * looked into before that is known to be open, and of any number of responses one is taken.
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
  }: PendingRequest): Promise<{ readonly requestId: string; readonly relayState: string }> {
    const token = await this.#tokens.issue(
      'saml-request',
      { tenantId, subjectId: configId, payload: { browser, reauthenticates } },
      SECONDS,
    );
    return { requestId: this.#requestId(token), relayState: `${browser === null ? 'j' : 'p'}${token}` };
  }

  /** Throws `SamlRefused`. */
  async find(relayState: string): Promise<OpenRequest> {
    const token = relayState.slice(1);
    const found =
      (await this.#tokens.peek('saml-request', token)) ?? refuseSaml('not_requested', 'no such request is open');
    const { tenantId, subjectId: configId, payload } = found;
    const browser = typeof payload['browser'] === 'string' ? payload['browser'] : null;
    return {
      tenantId,
      configId,
      browser,
      reauthenticates: payload['reauthenticates'] === true,
      requestId: this.#requestId(token),
    };
  }

  /** Takes the one answer that a request has. Throws `SamlRefused` for every one after the first. */
  async close(relayState: string): Promise<void> {
    if (!(await this.#tokens.spend('saml-request', relayState.slice(1))))
      refuseSaml('replayed', 'the request was answered before');
  }

  /** An NCName starts with a letter or "_". */
  #requestId(token: string): string {
    return `_${createHmac('sha256', this.#key).update(token).digest('hex')}`;
  }
}

/** What a relay state says of itself, of a request that is over too: good only for choosing the form of a refusal. */
export const samlStartedOnPage = (relayState: string): boolean => relayState.startsWith('p');
