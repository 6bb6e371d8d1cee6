import { z } from 'zod';
import { LONGEST_COMMAND_SECONDS } from '../../contexts/updates/domain/update-settings.ts';
import { baseUrlField } from '../../contexts/tenants/domain/base-url.ts';
import { uuid } from '../../platform/kernel/ids.ts';
import { privateNetworks } from '../../platform/outbound/private-networks.ts';
import { CLIENT_CERTIFICATE_HEADERS } from '../http/plugins/forwarded-certificate.ts';
import type { GivenSettings, SettingProblems } from './given-settings.ts';
import { apnsEnvironment, apnsKey, apnsTopic, appleId, fcmServiceAccount } from './push-settings.ts';
import {
  atLeast,
  ed25519PublicKey,
  trueOrFalse,
  httpUrl,
  key,
  nameServers,
  origins,
  networks,
  outboundNetworks,
  pemText,
  programWithArguments,
  publisherKey,
  wholeNumberFrom,
} from './setting-types.ts';

/** A setting that may also come from a file: `NAME_FILE` holds the file's path. */
const secret = <T extends z.ZodType>(schema: T): T => schema.meta({ isSecret: true });

const port = wholeNumberFrom(0, 65_535);
const count = wholeNumberFrom(1);
const text = z.string();

/** F037. */
const SCIM_BUDGET = 100;

/** Every environment variable that the service reads. Empty means unset. */
const environment = {
  HOST: text.default('127.0.0.1'),
  PORT: port.default(8080),
  TLS_PORT: port.default(8443),
  DATA_DIR: text.optional(),
  DATABASE_URL: secret(text.optional()),
  DATABASE_PASSWORD: secret(text.optional()),
  EVENTSTORE_URL: secret(text.optional()),
  EVENTSTORE_PASSWORD: secret(text.optional()),
  EVENTSTORE_CA: secret(pemText.optional()),
  REDIS_URL: secret(text.optional()),
  REDIS_PASSWORD: secret(text.optional()),
  MASTER_KEY: secret(key.optional()),
  OTHER_MASTER_KEY: secret(key.optional()),
  AUDIT_HMAC_KEY: secret(key.optional()),
  LICENSE_PUBLIC_KEY: secret(ed25519PublicKey.optional()),
  RECOVERY_KEY: secret(atLeast(16).optional()),
  METRICS_TOKEN: secret(atLeast(16).optional()),
  RATE_LIMIT_RPS: count.optional(),
  ENROLL_RATE_LIMIT_RPS: count.default(3_000),
  SCIM_RATE_LIMIT_RPM: count.default(SCIM_BUDGET),
  PORTAL_URL: httpUrl.optional(),
  PORTAL_API_KEY: secret(text.optional()),
  PUSH_GATEWAY_URL: httpUrl.optional(),
  PUSH_GATEWAY_TOKEN: secret(text.optional()),
  FCM_SERVICE_ACCOUNT: secret(fcmServiceAccount.optional()),
  APNS_KEY: secret(apnsKey.optional()),
  APNS_KEY_ID: appleId.optional(),
  APNS_TEAM_ID: appleId.optional(),
  APNS_TOPIC: apnsTopic.optional(),
  APNS_ENVIRONMENT: apnsEnvironment.default('production'),
  SCANNER_URL: httpUrl.optional(),
  REPUTATION_URL: httpUrl.optional(),
  S3_ENDPOINT: httpUrl.optional(),
  S3_BUCKET: text
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: 'must be the name of a bucket: a-z, 0-9, dots and hyphens' })
    .optional(),
  S3_REGION: text
    .regex(/^[a-z0-9-]{1,40}$/, { error: 'must be the name of a region: a-z, 0-9 and hyphens' })
    .default('us-east-1'),
  S3_ACCESS_KEY_ID: secret(text.optional()),
  S3_SECRET_ACCESS_KEY: secret(text.optional()),
  S3_TRUSTED: trueOrFalse.default(false),
  TRUSTED_PROXIES: networks.default([]),
  CLIENT_CERTIFICATE_HEADER: z
    .enum(CLIENT_CERTIFICATE_HEADERS, { error: `must be ${CLIENT_CERTIFICATE_HEADERS.join(' or ')}` })
    .default('X-Client-Cert'),
  EXTENSION_BASE_URL: baseUrlField
    .refine((url) => url.startsWith('https:'), { error: 'must be a URL that begins with https://' })
    .optional(),
  CORS_ALLOWED_ORIGINS: origins.default([]),
  DNS_SERVERS: nameServers.default([]),
  OUTBOUND_PRIVATE_NETWORKS: outboundNetworks.default(privateNetworks([])),
  UPDATE_TENANT_ID: uuid().optional(),
  UPDATE_PUBLIC_KEY: secret(publisherKey.optional()),
  UPDATE_ALLOW_UNSIGNED: trueOrFalse.default(false),
  UPDATE_FEED_URL: httpUrl.optional(),
  UPDATE_AUTO_DOWNLOAD: trueOrFalse.default(false),
  UPDATE_COMMAND: programWithArguments.optional(),
  UPDATE_COMMAND_SECONDS: wholeNumberFrom(1, LONGEST_COMMAND_SECONDS).default(600),
  EVENT_RETENTION_DAYS: count.default(90),
  STREAM_RETENTION_DAYS: count.default(365),
  TOKEN_KEY_GENERATION: count.default(1),
  DEV_MODE: trueOrFalse.default(false),
  DRAIN_SECONDS: wholeNumberFrom(1, 600).default(10),
  LOG_REQUESTS: trueOrFalse.default(true),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be one of fatal, error, warn, info, debug, trace, silent',
    })
    .default('info'),
};

export type SettingValues = z.output<z.ZodObject<typeof environment>>;

/** Names of the environment variables, in the order of the schema. README.md describes each of them. */
export const settingNames: readonly string[] = Object.keys(environment);

/** Settings that a file may hold: `NAME_FILE` names it. */
export const secretSettings: readonly string[] = Object.entries(environment)
  .filter(([, schema]) => (schema.meta() as { isSecret?: true } | undefined)?.isSecret)
  .map(([name]) => name);

/** Reads each setting by itself. One that is wrong is undefined here, and noted by name, without its value. */
export function settingsIn(given: GivenSettings, problems: SettingProblems): SettingValues {
  const read = Object.entries(environment).map(([name, schema]) => {
    const { success, data, error } = schema.safeParse(given[name]);
    if (!success) problems.add(`${name} ${error.issues[0]!.message}`);
    return [name, data] as const;
  });
  return Object.fromEntries(read) as SettingValues;
}
