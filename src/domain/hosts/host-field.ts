import { parse } from 'tldts';
import { z } from 'zod';
import { hostName } from '../telemetry/page-address.ts';

const LONGEST_INPUT = 1_000;

/**
 * A host as a caller may write it and as it is kept: lower case, punycode, no dot at the end. Names of pages, not of
 * registries: `com` or `co.uk` would speak for everybody there.
 */
export const hostField = () =>
  z
    .string()
    .max(LONGEST_INPUT)
    .transform((text, context) => {
      const host = hostName(text);
      const { hostname, isIp, publicSuffix, isIcann } = parse(host ?? '');
      const isAddress = isIp === true && hostname === text.trim();
      const isName = isIp === false && host === hostname && !(publicSuffix === host && isIcann === true);
      if (host && (isAddress || isName)) return host;
      context.addIssue({ code: 'custom', message: 'must be a host name' });
      return z.NEVER;
    })
    .pipe(z.string());
