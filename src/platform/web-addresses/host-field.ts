import { parse } from 'tldts';
import { z } from 'zod';
import { hostName } from './page-address.ts';

const LONGEST_INPUT = 1_000;
/** Characters around a host in a URL, or that encode one. Extracting the host from such a text would be a guess. */
const AROUND_A_HOST = /[/?#\\@:%\s]/;

/** The normalized host if the text is only a host; otherwise undefined. */
export const exactHost = (text: string): string | undefined =>
  AROUND_A_HOST.test(text.trim()) ? undefined : hostName(text);

/**
 * A host in a request, normalized for storage: lower case, punycode, no trailing dot. Public suffixes are refused:
 * `com` or `co.uk` would cover every site below.
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
