import { isIPv6 } from 'node:net';
import { FilterParser } from 'ldapts';
import { z } from 'zod';
import { authorityCertificates } from '../../sso/domain/fields.ts';
import { invalid, refuseTogether, secretNeededAgain, type Failure } from '../../../platform/kernel/failure.ts';
import { baseAddressField } from '../../../platform/web-addresses/address-field.ts';
import { hostField } from '../../../platform/web-addresses/host-field.ts';
import { googleServiceAccount } from './google-service-account.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

/** Kinds of directories (OP-231). */
export const directoryTypes = ['ldap', 'active_directory', 'entra_id', 'google_workspace', 'okta'] as const;
export type DirectoryType = (typeof directoryTypes)[number];

/** The parser of ldapts overlooks a missing end. Parentheses within values are escaped (RFC 4515 §3). */
function isLdapFilter(text: string): boolean {
  if (text.split('(').length !== text.split(')').length) return false;
  try {
    FilterParser.parseString(text);
    return true;
  } catch {
    return false;
  }
}

const SECRET_CHARACTERS = 4_096;
const name = (most: number) => z.string().trim().min(1).max(most);
const filter = z
  .string()
  .trim()
  .min(3)
  .max(2_000)
  .refine((text) => text.startsWith('(') && isLdapFilter(text), 'must be an LDAP filter (RFC 4515), in parentheses')
  .nullable();
/** A name or an address; IPv6 addresses also in brackets, as in URLs. Stored without them. */
const serverField = z.union([
  z
    .string()
    .trim()
    .transform((text) => text.replace(/^\[(.*)\]$/, '$1').toLowerCase())
    .refine((text) => isIPv6(text) && !text.includes('%'), 'must be a host name or an address'),
  hostField(),
]);

const ldapFields = {
  host: serverField,
  port: z.int().min(1).max(65_535).default(636),
  useTls: z.boolean().default(true),
  startTls: z.boolean().default(false),
  baseDn: name(1_000),
  bindDn: name(1_000),
  userFilter: filter.default(null),
  groupFilter: filter.default(null),
};
const entraFields = {
  directoryId: name(200).regex(/^[\w.-]+$/, 'must be an id or a domain'),
  clientId: name(200),
  loginUrl: baseAddressField().default('https://login.microsoftonline.com'),
  graphUrl: baseAddressField().default('https://graph.microsoft.com'),
};
const googleFields = {
  domain: hostField(),
  adminEmail: z.email().max(254),
  apiUrl: baseAddressField().default('https://admin.googleapis.com'),
};
const oktaFields = { orgUrl: baseAddressField() };

/** The fields of each type, as requests hold them. The secret is apart: only the vault holds it. */
export const configFields = {
  ldap: ldapFields,
  active_directory: ldapFields,
  entra_id: entraFields,
  google_workspace: googleFields,
  okta: oktaFields,
} as const satisfies Record<DirectoryType, z.ZodRawShape>;

const serviceAccountKey = z
  .string()
  .max(32_768)
  .refine((text) => googleServiceAccount(text) !== undefined, 'must be the JSON key file of a service account');
/** A password that people choose is taken as it is. */
const password = z.string().min(1).max(SECRET_CHARACTERS);
/** A provider made it, and a page showed it: what surrounds it was copied with it. */
const copiedSecret = z.string().trim().min(1).max(SECRET_CHARACTERS);
/** Sent in a header, which holds nothing else. */
const headerToken = copiedSecret.regex(/^[\x21-\x7e]+$/, 'must be one word of printable ASCII characters');

/** The secret of each type, and the fields with the address to which it is sent. */
export const secretFields = {
  ldap: { name: 'bindPassword', schema: password, sentTo: ['host', 'port', 'useTls', 'startTls'] },
  active_directory: { name: 'bindPassword', schema: password, sentTo: ['host', 'port', 'useTls', 'startTls'] },
  entra_id: { name: 'clientSecret', schema: copiedSecret, sentTo: ['loginUrl', 'directoryId'] },
  // The key signs; it is never sent. What it signs goes to the address in the key file, and the token to `apiUrl`.
  google_workspace: { name: 'serviceAccountKey', schema: serviceAccountKey, sentTo: ['apiUrl'] },
  okta: { name: 'apiToken', schema: headerToken, sentTo: ['orgUrl'] },
} as const satisfies Record<
  DirectoryType,
  { readonly name: string; readonly schema: z.ZodType; readonly sentTo: readonly string[] }
>;

/** As events hold it: without limits, which may become stricter. */
const ldapConfig = {
  host: z.string(),
  port: z.int(),
  useTls: z.boolean(),
  startTls: z.boolean(),
  baseDn: z.string(),
  bindDn: z.string(),
  userFilter: z.string().nullable(),
  groupFilter: z.string().nullable(),
};
const text = z.string();
export const storedConfig = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ldap'), ...ldapConfig }),
  z.object({ type: z.literal('active_directory'), ...ldapConfig }),
  z.object({ type: z.literal('entra_id'), directoryId: text, clientId: text, loginUrl: text, graphUrl: text }),
  z.object({ type: z.literal('google_workspace'), domain: text, adminEmail: text, apiUrl: text }),
  z.object({ type: z.literal('okta'), orgUrl: text }),
]);
export type DirectoryConfig = z.output<typeof storedConfig>;

export const MIN_INTERVAL_MINUTES = 5;
export const MAX_INTERVAL_MINUTES = 7 * 24 * 60;
/** Groups that one source may synchronize. */
export const MAX_SYNCED_GROUPS = 1_000;

export const sourceFields = {
  name: nameField(),
  isEnabled: z.boolean(),
  syncIntervalMinutes: z.int().min(MIN_INTERVAL_MINUTES).max(MAX_INTERVAL_MINUTES),
  maxDeactivationShare: z.int().min(1).max(100),
  allowPrivateNetwork: z.boolean(),
  caCertificate: authorityCertificates.nullable(),
};

/** The addresses that the service calls for a source, by field. */
export function addressesOf(config: DirectoryConfig): readonly (readonly [field: string, address: string])[] {
  switch (config.type) {
    case 'ldap':
    case 'active_directory':
      return [['config.host', `ldaps://${config.host.includes(':') ? `[${config.host}]` : config.host}`]];
    case 'entra_id':
      return [
        ['config.loginUrl', config.loginUrl],
        ['config.graphUrl', config.graphUrl],
      ];
    case 'google_workspace':
      return [['config.apiUrl', config.apiUrl]];
    case 'okta':
      return [['config.orgUrl', config.orgUrl]];
  }
}

export const CLEAR_LDAP = { field: 'config.useTls', message: 'must be true: a password is sent' };

/** Without TLS, the password and every person's data would travel in clear text. */
export function refuseClearText(config: DirectoryConfig): Failure | undefined {
  const plain = addressesOf(config).filter(([, address]) => address.startsWith('http:'));
  return refuseTogether(
    'useTls' in config && !config.useTls ? invalid(CLEAR_LDAP.field, CLEAR_LDAP.message) : undefined,
    ...plain.map(([field]) => invalid(field, 'must be an https address')),
  );
}

/** Refuses to send a stored secret to an address that was not there when it was entered. */
export function refuseSecretElsewhere(before: DirectoryConfig, after: DirectoryConfig): Failure | undefined {
  const { name: secretName, sentTo } = secretFields[before.type];
  const valueOf = (config: DirectoryConfig, field: string) => (config as Readonly<Record<string, unknown>>)[field];
  const moved = sentTo.find((field) => valueOf(before, field) !== valueOf(after, field));
  return moved === undefined ? undefined : secretNeededAgain(`config.${secretName}`, `config.${moved}`);
}
