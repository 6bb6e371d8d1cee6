import { FairLimiter } from '../../../platform/fairness/fair-limiter.ts';
import { INSTALLATION, type TenantId } from '../../../platform/kernel/ids.ts';
import { Thread } from '../../../platform/threads/thread.ts';
import type { ResponseReader } from './accept-response.ts';
import type { Expected } from './assertion-conditions.ts';
import type { ReadResponse } from './read-response.ts';
import { SamlRefused } from './refused.ts';
import type { ResponseTask, ThreadResult } from './response-thread.ts';
import type { ResponseClaims } from './unverified-claims.ts';

const ENTRY = new URL('response-thread.ts', import.meta.url);

/**
 * Reads responses in one thread, begun with the first response: parsing and verifying takes milliseconds, up to a tenth
 * of a second for the largest document, and anybody may post one. Callers wait for seconds: whole offices come at nine.
 */
export class ThreadedResponseReader implements ResponseReader {
  readonly #turns = new FairLimiter({
    what: 'SAML responses',
    atOnce: 1,
    perKey: 1,
    waiting: 512,
    waitingPerKey: 256,
    waitMs: 20_000,
  });
  #thread: Thread<ResponseTask, ThreadResult> | undefined;

  async read(
    tenantId: TenantId,
    base64: string,
    expected: Expected,
    certificatesPem: readonly string[],
  ): Promise<ReadResponse> {
    const result = await this.#run(tenantId, { kind: 'read', base64, expected, certificatesPem });
    if (!('read' in result)) throw new TypeError('the thread returned something else');
    return result.read;
  }

  async claims(base64: string): Promise<ResponseClaims> {
    const result = await this.#run(INSTALLATION, { kind: 'claims', base64 });
    if (!('claims' in result)) throw new TypeError('the thread returned something else');
    return result.claims;
  }

  async close(): Promise<void> {
    await this.#thread?.close();
    this.#thread = undefined;
  }

  async #run(tenantId: TenantId, request: ResponseTask): Promise<ThreadResult> {
    const result = await this.#turns.run(tenantId, () => this.#request(request));
    if ('refusal' in result) throw new SamlRefused(result.refusal, result.detail);
    return result;
  }

  async #request(request: ResponseTask): Promise<ThreadResult> {
    const thread = (this.#thread ??= new Thread(ENTRY, undefined));
    try {
      return await thread.request(request);
    } catch (error) {
      // The thread has ended, or failed at something unexpected: the next response gets a new one.
      if (this.#thread === thread) this.#thread = undefined;
      await thread.close();
      throw error;
    }
  }
}
