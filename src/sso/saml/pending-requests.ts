import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../../kernel/ids.ts';
import type { OneTimeTokens } from '../../identity/one-time-tokens.ts';
import { refuse } from './refused.ts';

/** A sign-in that was started here and has not come back yet. */
export interface PendingRequest {
  readonly tenantId: TenantId;
  readonly configId: string;
  /** What the browser that comes back is to be told, besides who it is (`SsoReturn`). */
  readonly payload: Record<string, unknown>;
}

/** Choice OP-034. */
const SECONDS = 10 * 60;

/**
 * The requests that a response may answer. The id of an AuthnRequest is a one-time token in itself: kept as a digest, it
 * names its tenant, and of any number of responses to it one is taken.
 */
export class PendingRequests {
  readonly #tokens: OneTimeTokens;
  readonly #key: Buffer;

  constructor(tokens: OneTimeTokens, key: Buffer) {
    this.#tokens = tokens;
    this.#key = key;
  }

  async open({ tenantId, configId, payload }: PendingRequest): Promise<{ readonly requestId: string; readonly relayState: string }> {
    // An NCName starts with a letter or "_"; what a token is made of may follow.
    const requestId = `_${await this.#tokens.issue('saml-request', { tenantId, subjectId: configId, payload }, SECONDS)}`;
    return { requestId, relayState: this.#signature(requestId) };
  }

  /** The request that a response claims to answer, if it is open and `relayState` came with it. Throws `SamlRefused`. */
  async find(requestId: string | undefined, relayState: string | undefined): Promise<PendingRequest> {
    const token = requestId?.startsWith('_') ? await this.#tokens.peek('saml-request', requestId.slice(1)) : undefined;
    if (!token) return refuse('not_requested', 'no such request is open');
    const expected = Buffer.from(this.#signature(requestId!));
    const given = Buffer.from(relayState ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) refuse('relay_state', 'the relay state belongs to another request');
    return { tenantId: token.tenantId, configId: token.subjectId, payload: token.payload };
  }

  /** Takes the one answer that a request has. Throws `SamlRefused` for every one after the first. */
  async close(requestId: string): Promise<void> {
    if (!(await this.#tokens.spend('saml-request', requestId.slice(1)))) refuse('replayed', 'the request was answered before');
  }

  /** 43 octets: Bindings §3.4.3 allows 80. */
  #signature(requestId: string): string {
    return createHmac('sha256', this.#key).update(requestId).digest('base64url');
  }
}
