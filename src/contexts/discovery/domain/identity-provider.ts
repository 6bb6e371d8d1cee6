import type { IdentityProvider } from './vocabulary.ts';

/** Sign-in hosts of the large identity providers. They take precedence over what a browser reported. */
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

/** The identity provider for the name that a browser reported. */
export function identityProviderNamed(name: string | null): IdentityProvider {
  const text = name?.trim() ?? '';
  if (text === '' || text.toLowerCase() === 'none') return 'none';
  return match(NAMES, text) ?? 'other';
}
