import { parse } from 'tldts';
import { z } from 'zod';
import { hostName } from './page-address.ts';

const LONGEST_INPUT = 1_000;
/** What an address has around its host, or spells a host with: reading on to the host alone would guess what was meant. */
const AROUND_A_HOST = /[/?#\\@:%\s]/;

/** The host that a text is, in the one spelling; undefined where it is anything else. */
export const exactHost = (text: string): string | undefined =>
  AROUND_A_HOST.test(text.trim()) ? undefined : hostName(text);

/**
 * A host as a caller may write it and as it is kept: lower case, punycode, no dot at the end. Names of pages, not of
 * registries: `com` or `co.uk` would speak for everybody there.
 */
export const hostField = () =>
  z
    .string()
    .max(LONGEST_INPUT)
    .transform((text, context) => {
      const host = exactHost(text);
      const { hostname, isIp, publicSuffix, isIcann } = parse(host ?? '');
      const isAddress = isIp === true && hostname === text.trim();
      const isName = isIp === false && host === hostname && !(publicSuffix === host && isIcann === true);
      if (host && (isAddress || isName)) return host;
      context.addIssue({ code: 'custom', message: 'must be a host name' });
      return z.NEVER;
    })
    .pipe(z.string());
