import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** Choice OP-202. */
const GOOD_FOR_S = 15 * 60;

export interface SignedAddress {
  readonly tenantId: TenantId;
  readonly screenshotId: string;
  /** Epoch seconds, as text from the address. */
  readonly expires: string;
  readonly signature: string;
}

/**
 * Addresses that show one image for 15 minutes to anyone who has them, without a session (an `img` element sends none).
 * The signature covers tenant, screenshot and expiry.
 */
export class SignedAddresses {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  address(base: string, tenantId: TenantId, screenshotId: string, now: number): string {
    const expires = String(Math.floor(now / 1_000) + GOOD_FOR_S);
    const signature = this.#sign({ tenantId, screenshotId, expires }).toString('hex');
    return `${base.replace(/\/+$/, '')}/api/v1/screenshots/${tenantId}/${screenshotId}/image?expires=${expires}&signature=${signature}`;
  }

  /** Checks the signature first: only a genuine address is reported as expired. */
  judge({ signature, ...signed }: SignedAddress, now: number): 'good' | 'expired' | 'forged' {
    const expected = this.#sign(signed);
    const given = /^[0-9a-f]{64}$/.test(signature) ? Buffer.from(signature, 'hex') : Buffer.alloc(expected.length);
    if (!timingSafeEqual(given, expected)) return 'forged';
    return Number(signed.expires) * 1_000 > now ? 'good' : 'expired';
  }

  #sign({ tenantId, screenshotId, expires }: Omit<SignedAddress, 'signature'>): Buffer {
    return createHmac('sha256', this.#key).update(`${tenantId}\n${screenshotId}\n${expires}`).digest();
  }
}
