import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../../platform/kernel/ids.ts';

const STEP_MS = 30_000;
const DAY_MS = 86_400_000;
/** How long yesterday's code is still accepted after midnight UTC (OP-234). */
const GRACE_MS = 15 * 60_000;
const DIGITS = 6;

/** The codes that an employee reads out; `expiresAt` is the end of the one-time code's step. */
export interface CurrentCodes {
  readonly dailyCode: string;
  readonly otp: string;
  readonly expiresAt: string;
}

/**
 * The owner of the codes. `deactivations` counts how often the person became inactive; codes from before the latest
 * time are void.
 */
export interface CodeHolder {
  readonly userId: string;
  readonly deactivations: number;
}

const nameOf = ({ userId, deactivations }: CodeHolder): string =>
  deactivations === 0 ? userId : `${userId}|${deactivations}`;

const hmac = (key: string | Buffer, message: string): Buffer => createHmac('sha256', key).update(message).digest();

/** Dynamic truncation (RFC 4226 §5.3): the last octet gives the offset of the 31 bits. */
const digitsOf = (digest: Buffer): string => {
  const number = digest.readUInt32BE(digest[digest.length - 1]! & 0x0f) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
};

const same = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

/**
 * Codes by which employees prove their identity over the telephone. Nothing is stored: a code is a keyed digest of
 * person and time. The tenant's key is derived in this process only, so read access to the database reveals no code.
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

  /** Accepts today's code, and yesterday's in the first quarter of an hour of a UTC day. */
  isDailyCode(tenantId: TenantId, person: CodeHolder, code: string, now: number): boolean {
    const today = same(this.#daily(tenantId, person, now), code);
    const yesterday = same(this.#daily(tenantId, person, now - DAY_MS), code);
    return today || (yesterday && now % DAY_MS < GRACE_MS);
  }

  /** The 30-second step of a right code: the current one, the previous or the next. Undefined for a wrong code. */
  stepOfOtp(tenantId: TenantId, person: CodeHolder, code: string, now: number): number | undefined {
    const step = Math.floor(now / STEP_MS);
    // Computes and compares all three, so that timing reveals nothing.
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
