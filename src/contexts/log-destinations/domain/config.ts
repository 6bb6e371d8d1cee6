import { z } from 'zod';
import { authorityCertificates } from '../../sso/domain/fields.ts';
import { invalid, secretNeededAgain, type Failure } from '../../../platform/kernel/failure.ts';
import { addressField, baseAddressField } from '../../../platform/web-addresses/address-field.ts';
import { hostField } from '../../../platform/web-addresses/host-field.ts';
import { refusedHeader } from './header-rules.ts';
import {
  logFormats,
  recordTypes,
  syslogFacilities,
  syslogProtocols,
  webhookPayloads,
  type DestinationType,
} from './vocabulary.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

const SECRET_CHARACTERS = 4_096;
const MAX_HEADERS = 20;

/** Visible ASCII characters and inner spaces: nothing that could begin another header. */
const headerValue = z
  .string()
  .max(1_024)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII characters');
const headers = z.record(z.string(), headerValue).superRefine((given, context) => {
  if (Object.keys(given).length > MAX_HEADERS)
    context.addIssue({ code: 'custom', message: `must have at most ${MAX_HEADERS} headers` });
  for (const name of Object.keys(given)) {
    const refused = refusedHeader(name);
    if (refused) context.addIssue({ code: 'custom', message: refused, path: [name] });
  }
});

const syslogFields = {
  host: hostField(),
  port: z.int().min(1).max(65_535).default(6514),
  protocol: z.enum(syslogProtocols).default('tls'),
  facility: z.enum(syslogFacilities).default('local0'),
};
const webhookFields = {
  url: addressField(),
  headers: headers.default({}),
  payload: z.enum(webhookPayloads).default('ndjson').describe('Lines of JSON, or one JSON array'),
};
const splunkFields = {
  url: baseAddressField(),
  index: z
    .string()
    .regex(/^[a-z0-9_][a-z0-9_-]{0,79}$/, 'must be the name of an index')
    .nullable()
    .default(null),
  sourceType: z
    .string()
    .regex(/^[\w:.-]{1,100}$/, 'must be a source type')
    .default('castellan'),
};
const elasticsearchFields = {
  url: baseAddressField(),
  /** https://www.elastic.co/docs/api: lower case, none of the characters that a path or a list would use. */
  index: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,199}$/, 'must be the name of an index or a data stream'),
};
const s3Fields = {
  endpoint: baseAddressField(),
  region: z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be a region'),
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket'),
  prefix: z
    .string()
    .regex(/^[\w-]{1,64}(?:\/[\w-]{1,64}){0,5}$/, 'must be letters, digits, hyphens and inner slashes')
    .default('castellan'),
  accessKeyId: z.string().regex(/^[\w-]{1,128}$/, 'must be an access key id'),
};

/** The fields of each type, as requests hold them. The secret is apart: only the vault holds it. */
export const destinationFields = {
  syslog: syslogFields,
  webhook: webhookFields,
  splunk_hec: splunkFields,
  elasticsearch: elasticsearchFields,
  s3: s3Fields,
} as const satisfies Record<DestinationType, z.ZodRawShape>;

/** Sent in a header, so without characters that end one. */
const secretText = z
  .string()
  .max(SECRET_CHARACTERS)
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters');

/** The secret of each type, and the fields with the address to which it, or what it signs, is sent. */
export const destinationSecrets = {
  syslog: undefined,
  webhook: { name: 'token', schema: secretText, sentTo: ['url'] },
  splunk_hec: { name: 'token', schema: secretText, sentTo: ['url'] },
  elasticsearch: { name: 'apiKey', schema: secretText, sentTo: ['url'] },
  s3: { name: 'secretAccessKey', schema: secretText, sentTo: ['endpoint'] },
} as const satisfies Record<
  DestinationType,
  { readonly name: string; readonly schema: z.ZodType; readonly sentTo: readonly string[] } | undefined
>;

/** As events hold it: without limits, which may become stricter. */
const text = z.string();
export const storedDestinationConfig = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('syslog'),
    host: text,
    port: z.int(),
    protocol: z.enum(syslogProtocols),
    facility: z.enum(syslogFacilities),
  }),
  z.object({
    type: z.literal('webhook'),
    url: text,
    headers: z.record(text, text),
    payload: z.enum(webhookPayloads),
  }),
  z.object({ type: z.literal('splunk_hec'), url: text, index: text.nullable(), sourceType: text }),
  z.object({ type: z.literal('elasticsearch'), url: text, index: text }),
  z.object({
    type: z.literal('s3'),
    endpoint: text,
    region: text,
    bucket: text,
    prefix: text,
    accessKeyId: text,
  }),
]);
export type DestinationConfig = z.output<typeof storedDestinationConfig>;
export type ConfigOf<Type extends DestinationType> = Extract<DestinationConfig, { type: Type }>;

/** Destinations of a tenant. */
export const MAX_DESTINATIONS = 10;

export const destinationSettings = {
  name: nameField(),
  format: z.enum(logFormats),
  isEnabled: z.boolean(),
  eventTypes: z
    .array(z.enum(recordTypes))
    .min(1)
    .max(recordTypes.length)
    .overwrite((types) => [...new Set(types)]),
  allowPrivateNetwork: z.boolean(),
  caCertificate: authorityCertificates.nullable(),
};

/** The address that the service calls, and the field that holds it. */
export function destinationAddress(config: DestinationConfig): { readonly field: string; readonly address: string } {
  switch (config.type) {
    case 'syslog': {
      const host = config.host.includes(':') ? `[${config.host}]` : config.host;
      return { field: 'config.host', address: `https://${host}:${config.port}` };
    }
    case 's3':
      return { field: 'config.endpoint', address: config.endpoint };
    case 'webhook':
    case 'splunk_hec':
    case 'elasticsearch':
      return { field: 'config.url', address: config.url };
  }
}

/**
 * Everything that decides who gets the records: the address, its protection, and the customer of a shared service. The
 * rest only says how records look or where the receiver files them.
 */
export function receiverOf(config: DestinationConfig): readonly unknown[] {
  switch (config.type) {
    case 'syslog':
      return [config.host, config.port, config.protocol];
    case 'webhook':
      return [config.url, config.headers];
    case 'splunk_hec':
    case 'elasticsearch':
      return [config.url, config.index];
    case 's3':
      return [config.endpoint, config.region, config.bucket, config.accessKeyId];
  }
}

/** Without TLS, credentials and records would travel in clear text over HTTP. */
export function refusePlainHttp(config: DestinationConfig): Failure | undefined {
  const { field, address } = destinationAddress(config);
  return address.startsWith('http:') ? invalid(field, 'must be an https address') : undefined;
}

/** Refuses to send a stored secret to an address that was not there when it was entered. */
export function refuseTokenElsewhere(before: DestinationConfig, after: DestinationConfig): Failure | undefined {
  const secret = destinationSecrets[before.type];
  if (!secret) return undefined;
  const valueOf = (config: DestinationConfig, field: string) => (config as Readonly<Record<string, unknown>>)[field];
  const moved = secret.sentTo.find((field) => valueOf(before, field) !== valueOf(after, field));
  return moved === undefined ? undefined : secretNeededAgain(`config.${secret.name}`, `config.${moved}`);
}
