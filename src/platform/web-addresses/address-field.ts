import { z } from 'zod';
import { parsedUrl } from '../kernel/parsed-url.ts';

const LONGEST_ADDRESS = 2_048;
/** `URL` removes line breaks and tabs and forgives missing slashes: the text would not be the address that is called. */
const PLAIN_FORM = /^https?:\/\/[^\s\\\p{Cc}]+$/iu;
const USER_INFORMATION = /^https?:\/\/[^/?#]*@/i;

/** The parts that a field's address may have after its path. */
export interface AddressRules {
  readonly query: boolean;
  readonly fragment: boolean;
}

/** Why a text is no web address under these rules; undefined if it is one. Never throws. */
export function wrongWebAddress(text: string, { query, fragment }: AddressRules): string | undefined {
  if (!/^https?:\/\//i.test(text)) return 'must be a web address, such as https://example.com';
  const url = PLAIN_FORM.test(text) ? parsedUrl(text) : undefined;
  if (!url) return 'must be a web address, such as https://example.com/path';
  if (/%(?![\da-f]{2})/i.test(text)) return 'must have no malformed percent escape';
  if (url.port === '0') return 'must have a port from 1 to 65535';
  // RFC 9110 §4.2.4: credentials in an address would be stored, shown and logged with it.
  if (USER_INFORMATION.test(text)) return 'must contain no credentials';
  if (!fragment && text.includes('#')) return 'must have no fragment';
  return !query && text.replace(/#.*$/, '').includes('?') ? 'must have no query' : undefined;
}

/**
 * An address in a request or a setting: `http` or `https`, with a host, without credentials. All addresses use this
 * type, so that code after it can parse them. Plain `http` is for the caller to refuse, because development allows it.
 */
export const addressField = (rules: Partial<AddressRules> = {}) =>
  z
    .string()
    .trim()
    .max(LONGEST_ADDRESS, { abort: true })
    .superRefine((text, context) => {
      const message = wrongWebAddress(text, { query: true, fragment: false, ...rules });
      // `continue: false` keeps later rules of a field from parsing what is no address.
      if (message !== undefined) context.addIssue({ code: 'custom', message, continue: false });
    })
    .meta({ format: 'uri' });

/** An address to which paths are appended: without a query, stored without a slash at its end. */
export const baseAddressField = () => addressField({ query: false }).overwrite((text) => text.replace(/\/+$/, ''));
