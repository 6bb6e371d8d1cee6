import { domainToASCII } from 'node:url';
import { siteOf } from './site.ts';
import { soundsSecret } from './secret-tripwire.ts';
import { parsedUrl } from '../kernel/parsed-url.ts';

const MAX_HOST_CHARACTERS = 253; // RFC 1035 §2.3.4, without the trailing dot
const LABELS = /^(?=.)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV6 = /^\[[0-9a-f:.]+\]$/;
/** Characters around a host in a URL, or that encode one: `domainToASCII` would extract the host from such a text. */
const AROUND_A_HOST = /[/?#\\@%\s]/;

/** Already normalized, as nearly every host is. Ends in a letter, so it is not an IP address in another notation. */
const SPELLED = /^(?!.*xn--)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z])?$/;

/** Normalizes a host: lower case, ASCII (IDNA), no trailing dot. Undefined if it is not one. */
export function hostName(text: string): string | undefined {
  if (text.length <= MAX_HOST_CHARACTERS && SPELLED.test(text)) return text;
  if (AROUND_A_HOST.test(text.trim())) return undefined;
  const ascii = domainToASCII(text.trim().replace(/\.$/, ''));
  return ascii.length <= MAX_HOST_CHARACTERS && (LABELS.test(ascii) || IPV6.test(ascii)) ? ascii : undefined;
}

/** Schemes of pages. `javascript:` and `data:` are content, not locations. */
const PLACES = /^(?:https?|ftp|file|about|chrome|edge|(?:chrome|moz|safari-web)-extension):$/;

/** Has no part that could contain a secret. */
const PLAIN = /^https?:[^?#@]*$/;

/**
 * Removes secrets from an address so that it is safe to store: account and password, and query or fragment parameters
 * whose names suggest a secret (reset tokens, codes, keys). An address without them is returned unchanged. Undefined
 * if the text is not an address.
 */
export function withoutSecrets(text: string): string | undefined {
  const url = parsedUrl(text);
  if (!url) return undefined;
  if (PLAIN.test(text)) return text;
  if (!PLACES.test(url.protocol)) return undefined;
  const names = [...url.searchParams.keys()].filter(isTelling);
  const tellingFragment = [...new URLSearchParams(url.hash.slice(1)).keys()].some((name) =>
    isTelling(name.split('?').at(-1)!),
  );
  if (!url.username && !url.password && names.length === 0 && !tellingFragment) return text;
  url.username = '';
  url.password = '';
  for (const name of names) url.searchParams.set(name, 'removed');
  if (tellingFragment) url.hash = '';
  return url.href;
}

const TELLING =
  /^(?:code|key|sig|signature|auth|authorization|session|sessionid|sid|otp|jwt|assertion|samlresponse|ticket|credential|state|nonce)$/i;
const isTelling = (name: string): boolean => TELLING.test(name) || soundsSecret(name);

/** The normalized host of an address. */
export function hostOf(address: string): string | undefined {
  const url = parsedUrl(address);
  return url && hostName(url.hostname);
}

const WEB = /^https?:/i;

/** The host of a web page; undefined for pages inside a browser or a computer, which have none. */
export const webHostOf = (url: string): string | undefined => (WEB.test(url) ? hostOf(url) : undefined);

/**
 * Whether an address is a page of the reported host, or of a host below it on the same site: `www.shop.example` of
 * `shop.example`, but no host below a public suffix like `github.io`. Lists show it as a link to that host.
 */
export function isPageOf(url: string, domain: string): boolean {
  // The fast path for the usual spelling. After a colon or a backslash another host could begin.
  const start = url.startsWith('https://') ? 8 : url.startsWith('http://') ? 7 : 0;
  if (
    start > 0 &&
    url.startsWith(domain, start) &&
    /^(?:[/?#]|$)/.test(url.slice(start + domain.length, start + domain.length + 1))
  )
    return true;
  const host = webHostOf(url);
  return host !== undefined && (host === domain || (host.endsWith(`.${domain}`) && siteOf(host) === siteOf(domain)));
}
