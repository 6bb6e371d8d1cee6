import { domainToASCII } from 'node:url';
import { siteOf } from './site.ts';
import { soundsSecret } from './secret-tripwire.ts';

const MAX_HOST_CHARACTERS = 253; // RFC 1035 §2.3.4, without the trailing dot
const LABELS = /^(?=.)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV6 = /^\[[0-9a-f:.]+\]$/;
/** What an address has around its host, or spells a host with: `domainToASCII` would read on to the host alone. */
const AROUND_A_HOST = /[/?#\\@%\s]/;

/** Spelled that way already, as nearly every host is; ends in a letter, so it is no address in disguise. */
const SPELLED = /^(?!.*xn--)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z])?$/;

/** A host as one spelling: lower case, ASCII (IDNA), no trailing dot; undefined where there is none. */
export function hostName(text: string): string | undefined {
  if (text.length <= MAX_HOST_CHARACTERS && SPELLED.test(text)) return text;
  if (AROUND_A_HOST.test(text.trim())) return undefined;
  const ascii = domainToASCII(text.trim().replace(/\.$/, ''));
  return ascii.length <= MAX_HOST_CHARACTERS && (LABELS.test(ascii) || IPV6.test(ascii)) ? ascii : undefined;
}

/** Places where a page can be. `javascript:` and `data:` are content, not places. */
const PLACES = /^(?:https?|ftp|file|about|chrome|edge|(?:chrome|moz|safari-web)-extension):$/;

/** Has no part in which a secret could stand. */
const PLAIN = /^https?:[^?#@]*$/;

/**
 * An address that is safe to keep: account and password are taken out, and whatever a query or a fragment calls a secret
 * (reset tokens, codes, keys) is blanked. An address that holds none stays letter for letter. Undefined: not an address.
 */
export function withoutSecrets(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  if (PLAIN.test(text)) return text;
  const url = new URL(text);
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

/** The host of an address, in the one spelling. */
export const hostOf = (url: string): string | undefined =>
  URL.canParse(url) ? hostName(new URL(url).hostname) : undefined;

const WEB = /^https?:/i;

/** The host of a page in the web; undefined for places inside a browser or a computer, which have none. */
export const webHostOf = (url: string): string | undefined => (WEB.test(url) ? hostOf(url) : undefined);

/**
 * Whether an address is a page of the reported host, or of one below it on the same site (`www.shop.example` of `shop.example`,
 * but nothing below a registry like `github.io`). Lists show it as a link to that host.
 */
export function isPageOf(url: string, domain: string): boolean {
  // Spelled the plain way, as nearly every address is. Behind a colon or a backslash another host could begin.
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
