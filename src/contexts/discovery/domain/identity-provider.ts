import type { IdentityProvider } from './vocabulary.ts';

/** Hosts at which the large identity providers sign people in: their own word, whatever a browser took them for. */
const HOSTS: readonly (readonly [RegExp, IdentityProvider])[] = [
  [
    /^(?:login\.microsoftonline\.(?:com|us)|login\.windows\.net|login\.live\.com|login\.microsoft\.com|sts\.windows\.net)$/,
    'entra_id',
  ],
  [/^accounts\.google\.com$/, 'google'],
  [/\.(?:okta|oktapreview|okta-emea)\.com$/, 'okta'],
];

const NAMES: readonly (readonly [RegExp, IdentityProvider])[] = [
  [/entra|azure|microsoft/i, 'entra_id'],
  [/google/i, 'google'],
  [/okta/i, 'okta'],
];

const match = (table: typeof HOSTS, text: string): IdentityProvider | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

export const identityProviderOfHost = (host: string): IdentityProvider | undefined => match(HOSTS, host);

/** Who signed somebody in, by the name under which a browser reported it. */
export function identityProviderNamed(name: string | null): IdentityProvider {
  const text = name?.trim() ?? '';
  if (text === '' || text.toLowerCase() === 'none') return 'none';
  return match(NAMES, text) ?? 'other';
}
