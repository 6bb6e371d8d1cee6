import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * An account as its browsers know it: the tenant (or `organizations`, whose accounts are found by e-mail alone) and the
 * e-mail's digest.
 */
export interface KnownAccountName {
  readonly scope: string;
  readonly accountDigest: string;
}

export const ORGANIZATIONS = 'organizations';

const DAY_MS = 86_400_000;
/** How long a browser counts as known after its latest renewal, and after what time a sign-in renews it. */
const LIFETIME_MS = 90 * DAY_MS;
const RENEWAL_MS = 30 * DAY_MS;
export const KNOWN_BROWSER_SECONDS = LIFETIME_MS / 1_000;

export interface KnownBrowser {
  readonly id: string;
  readonly isDueForRenewal: boolean;
}

/**
 * Recognizes browsers that have signed in to an account, by a token in a cookie (OWASP, "Device cookies"). The token is
 * signed here, bound to the account, and stored nowhere else.
 *
 * It grants no access. Its holder only gets a separate attempt counter, so that attempts of others cannot lock them
 * out.
 */
export class KnownBrowsers {
  readonly #keys: readonly [Buffer, ...Buffer[]];

  /** Tokens are signed with the first key and recognized with any of them. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = keys;
  }

  issue(account: KnownAccountName, now: number): string {
    const id = randomBytes(12).toString('base64url');
    const issuedAt = Math.floor(now / 1_000).toString(36);
    return `${id}.${issuedAt}.${signature(this.#keys[0], account, id, issuedAt)}`;
  }

  /** The browser that a token of this account identifies; undefined for every other token. */
  recognize(account: KnownAccountName, token: string | undefined, now: number): KnownBrowser | undefined {
    const [, id, issuedAt, signed] = /^([\w-]{16})\.([0-9a-z]{1,9})\.([\w-]{43})$/.exec(token ?? '') ?? [];
    if (!id || !issuedAt || !signed) return undefined;
    if (
      !this.#keys.some((key) =>
        timingSafeEqual(Buffer.from(signature(key, account, id, issuedAt)), Buffer.from(signed)),
      )
    )
      return undefined;
    const age = now - Number.parseInt(issuedAt, 36) * 1_000;
    return age < LIFETIME_MS ? { id, isDueForRenewal: age > RENEWAL_MS } : undefined;
  }
}

const signature = (key: Buffer, { scope, accountDigest }: KnownAccountName, id: string, issuedAt: string): string =>
  createHmac('sha256', key).update(`${scope}|${accountDigest}|${id}|${issuedAt}`).digest('base64url');

/** A short name for an account that reveals nothing about it: a browser may hold the tokens of several. */
export const opaqueAccountName = ({ scope, accountDigest }: KnownAccountName): string =>
  createHash('sha256').update(`${scope}|${accountDigest}`).digest('hex').slice(0, 16);
