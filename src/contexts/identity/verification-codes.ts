import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../../platform/kernel/ids.ts';

const STEP_MS = 30_000;
const DAY_MS = 86_400_000;
/** How long yesterday's code is still taken after midnight UTC (choice OP-234). */
const GRACE_MS = 15 * 60_000;
const DIGITS = 6;

/** What an employee reads out; `expiresAt` is the end of the one-time code's step. */
export interface CurrentCodes {
  readonly dailyCode: string;
  readonly otp: string;
  readonly expiresAt: string;
}

/** Whose codes they are. `deactivations`: how often the person became inactive; the codes from before the latest time are void. */
export interface CodeHolder {
  readonly userId: string;
  readonly deactivations: number;
}

const nameOf = ({ userId, deactivations }: CodeHolder): string =>
  deactivations === 0 ? userId : `${userId}|${deactivations}`;

const hmac = (key: string | Buffer, message: string): Buffer => createHmac('sha256', key).update(message).digest();

/** Dynamic truncation (RFC 4226 §5.3): the last octet names where the 31 bits begin. */
const digitsOf = (digest: Buffer): string => {
  const number = digest.readUInt32BE(digest[digest.length - 1]! & 0x0f) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
};

const same = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

/**
 * Codes by which employees prove over the telephone who they are. Nothing is stored: a code is a keyed digest of person and
 * time, under a key of the tenant that only this process derives, so whoever reads the database learns none.
 */
export class VerificationCodes {
  readonly #secretOf: (tenantId: TenantId) => string;

  constructor(secretOf: (tenantId: TenantId) => string) {
    this.#secretOf = secretOf;
  }

  current(tenantId: TenantId, person: CodeHolder, now: number): CurrentCodes {
    const step = Math.floor(now / STEP_MS);
    return {
      dailyCode: this.#daily(tenantId, person, now),
      otp: this.#otp(tenantId, person, step),
      expiresAt: new Date((step + 1) * STEP_MS).toISOString(),
    };
  }

  /** Today's code, or yesterday's in the first quarter of an hour of a UTC day. */
  isDailyCode(tenantId: TenantId, person: CodeHolder, code: string, now: number): boolean {
    const today = same(this.#daily(tenantId, person, now), code);
    const yesterday = same(this.#daily(tenantId, person, now - DAY_MS), code);
    return today || (yesterday && now % DAY_MS < GRACE_MS);
  }

  /** The 30-second step for which a code is right: this one, the one before or after it. Undefined for a wrong code. */
  stepOfOtp(tenantId: TenantId, person: CodeHolder, code: string, now: number): number | undefined {
    const step = Math.floor(now / STEP_MS);
    // All three are computed and compared, whichever is right: time says nothing.
    return [step - 1, step, step + 1].filter((one) => same(this.#otp(tenantId, person, one), code)).at(-1);
  }

  #daily(tenantId: TenantId, person: CodeHolder, now: number): string {
    return digitsOf(
      hmac(this.#secretOf(tenantId), `daily|${nameOf(person)}|${new Date(now).toISOString().slice(0, 10)}`),
    );
  }

  #otp(tenantId: TenantId, person: CodeHolder, step: number): string {
    return digitsOf(hmac(this.#secretOf(tenantId), `otp|${nameOf(person)}|${step}`));
  }
}
