import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { addressField } from '../../platform/web-addresses/address-field.ts';
import { privateNetworks, type PrivateNetworks } from '../../platform/outbound/private-networks.ts';
import { parsedUrl } from '../../platform/kernel/parsed-url.ts';

/**
 * The kinds of settings. Each refuses a wrong value in words that follow the setting's name and never repeat the value.
 */

export const trueOrFalse = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

export const wholeNumberFrom = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const error =
    max === Number.MAX_SAFE_INTEGER
      ? `must be a whole number of at least ${min}`
      : `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }));
};

export const httpUrl = addressField();

export const atLeast = (characters: number) =>
  z.string().min(characters, { error: `needs a value of at least ${characters} characters` });

/** 32 bytes, as 64 hex digits or in base64. Undefined for anything else. */
export function symmetricKey(text: string): Buffer | undefined {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  return key.length === 32 ? key : undefined;
}

export const KEY_FORM = 'must be 32 bytes, as 64 hex digits or in base64';
export const key = z.string().refine((text) => symmetricKey(text) !== undefined, { error: KEY_FORM });

/**
 * Text in PEM. Where a variable holds one line only, line ends may be `\n`; `docker run --env-file` keeps the quotes.
 */
export const pemText = z.string().transform((text) => text.replaceAll('\\n', '\n').replace(/^"([^]*)"$/, '$1'));

export const ed25519PublicKey = pemText.refine(isEd25519, {
  error: 'must be an Ed25519 public key in PEM (`castellan keys make` creates one)',
});

/** The public key of the publisher of updates. */
export const publisherKey = pemText.refine(isEd25519, { error: 'must be an Ed25519 public key in PEM' });

function isEd25519(text: string): boolean {
  try {
    return text.includes('PUBLIC KEY') && createPublicKey(text).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

const listOf = (isEntry: (text: string) => boolean, error: string) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter(Boolean),
    )
    .refine((entries) => entries.every(isEntry), { error });

export const networks = listOf(
  (text) => (text.includes('/') ? ipaddr.isValidCIDR(text) : isIP(text) !== 0),
  'must list IP addresses or CIDR ranges, separated by commas: 10.0.0.0/8, 192.0.2.7',
);

/** Exact origins, as browsers send them in `Origin`. Patterns are refused: with credentials they would open the API. */
export const origins = listOf(
  isOrigin,
  'must list origins (scheme, host and port only, without * and without a slash at the end), separated by commas: https://dashboard.example',
);

function isOrigin(text: string): boolean {
  const url = text.includes('*') ? undefined : parsedUrl(text);
  if (!url) return false;
  const { origin, protocol } = url;
  return (protocol === 'https:' || protocol === 'http:') && origin === text;
}

const NAME_SERVER = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i;

/** The private networks that destinations chosen by administrators may be in. */
export const outboundNetworks = listOf(() => true, '').transform((entries, context): PrivateNetworks => {
  try {
    return privateNetworks(entries);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as RangeError).message });
    return z.NEVER;
  }
});

export const nameServers = listOf((text) => {
  const [, bracketed, plain, port] = NAME_SERVER.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return isIP(address) !== 0 && Number(port ?? 53) <= 65_535;
}, 'must list IP addresses, each with an optional port, separated by commas: 192.0.2.53, [2001:db8::1]:5353');

const PROGRAM_FORM =
  'must be the absolute path of a program, or a JSON list of that path and its arguments: ["/opt/castellan/update","--now"]';

/** A program and its arguments, for use without a shell: a plain text is one path, never split at spaces. */
export const programWithArguments = z
  .string()
  .max(4_096, { error: PROGRAM_FORM })
  .transform((text, context): readonly [program: string, ...given: string[]] => {
    const [program, ...given] = text.startsWith('[') ? listIn(text) : [text];
    if (program?.startsWith('/') && ![program, ...given].some((one) => one.includes('\0'))) return [program, ...given];
    context.addIssue({ code: 'custom', message: PROGRAM_FORM });
    return z.NEVER;
  });

function listIn(text: string): readonly string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(text));
  } catch {
    return [];
  }
}
