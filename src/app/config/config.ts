import type { ProcessRole } from '../../platform/database/connections.ts';
import { resolve } from 'node:path';
import { z } from 'zod';
import { CLIENT_CERTIFICATE_HEADERS, type ClientCertificateHeader } from '../http/plugins/forwarded-certificate.ts';
import type { ScanService } from '../../contexts/threat-intel/domain/services.ts';
import { baseUrlField } from '../../contexts/tenants/domain/base-url.ts';
import { databaseUrlOf, eventStoreUrlOf, redisUrlOf } from './connection-urls.ts';
import {
  fileSetting,
  givenSettings,
  misspelledSettings,
  SettingProblems,
  type GivenSettings,
} from './given-settings.ts';
import { KeyFiles } from './key-files.ts';
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
import { privateNetworks, type PrivateNetworks } from '../../platform/outbound/private-networks.ts';
import { uuid } from '../../platform/kernel/ids.ts';
import { version } from '../../platform/version.ts';
import { LONGEST_COMMAND_SECONDS, type UpdateSettings } from '../../contexts/updates/domain/update-settings.ts';
import type { S3Settings } from '../../platform/objects/s3-objects.ts';
import { apnsEnvironment, apnsKey, apnsTopic, appleId, fcmServiceAccount, pushOf } from './push-settings.ts';
import { s3Of } from './s3-settings.ts';
import type { PushSettings } from '../../contexts/notifications/push/open-push-services.ts';
import type { ProviderAddress } from '../../contexts/threat-intel/open-providers.ts';

/** A setting that may also come from a file: `NAME_FILE` holds the file's path. */
const secret = <T extends z.ZodType>(schema: T): T => schema.meta({ isSecret: true });

const port = wholeNumberFrom(0, 65_535);
const count = wholeNumberFrom(1);
const text = z.string();

/**
 * OP-350: a page of a dashboard makes about 15 requests. An administrator can open 20 pages a minute, beside three that
 * refresh every 15 seconds.
 */
const ADMIN_BUDGET = 600;
const ADDRESS_BUDGET = 100;
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

type SettingValues = z.output<z.ZodObject<typeof environment>>;

/** Names of the environment variables, in the order of the schema. README.md describes each of them. */
export const settingNames: readonly string[] = Object.keys(environment);

/** Settings that a file may hold: `NAME_FILE` names it. */
export const secretSettings: readonly string[] = Object.entries(environment)
  .filter(([, schema]) => (schema.meta() as { isSecret?: true } | undefined)?.isSecret)
  .map(([name]) => name);

/** Reads each setting by itself. One that is wrong is undefined here, and noted by name, without its value. */
function settingsIn(given: GivenSettings, problems: SettingProblems): SettingValues {
  const read = Object.entries(environment).map(([name, schema]) => {
    const { success, data, error } = schema.safeParse(given[name]);
    if (!success) problems.add(`${name} ${error.issues[0]!.message}`);
    return [name, data] as const;
  });
  return Object.fromEntries(read) as SettingValues;
}

export interface Config {
  readonly role: ProcessRole;
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly eventStoreUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly masterKey: Buffer;
  /** A second master key, which can still open what it sealed, during a rotation (`docs/operations.md`). */
  readonly otherMasterKey: Buffer | undefined;
  readonly auditKey: Buffer;
  /** PEM, Ed25519. */
  readonly licensePublicKey: string;
  readonly recoveryKey: string | undefined;
  readonly metricsToken: string | undefined;
  /** Of one administrator. Requests per 60-second window, despite the `RPS` in the variables' names (choice OP-212). */
  readonly adminRateLimit: number;
  /** The same for addresses, of requests without a live session. */
  readonly addressRateLimit: number;
  readonly enrollRateLimit: number;
  /** Requests of one SCIM client in 60 seconds (OP-562). */
  readonly scimRateLimit: number;
  /** Overrides the specified budgets, by class. For load tests only: no environment variable sets it. */
  readonly rateBudgets: Readonly<Record<string, number>>;
  readonly portal: { readonly url: string; readonly apiKey: string | undefined } | undefined;
  /** The services that reach mobile devices. */
  readonly push: PushSettings;
  /** The external services that scan domains. */
  readonly threatIntel: Readonly<Record<ScanService, ProviderAddress>>;
  /** Object storage. If undefined, objects are files in a directory below `dataDir`. */
  readonly s3: S3Settings | undefined;
  readonly trustedProxies: readonly string[];
  /** The URL of the TLS listener for devices; if undefined, it follows from the external URL of the tenant. */
  readonly extensionBaseUrl: string | undefined;
  /** Origins whose scripts may call the API. If empty, none but its own. */
  readonly corsAllowedOrigins: readonly string[];
  /** The header in which trusted proxies pass on client certificates. */
  readonly clientCertificateHeader: ClientCertificateHeader;
  /** Name servers that verify the domains of organizations. If empty, those of the machine. */
  readonly dnsServers: readonly string[];
  /** Private networks that destinations chosen by administrators may be in. */
  readonly outboundNetworks: PrivateNetworks;
  readonly updates: UpdateSettings;
  readonly eventRetentionDays: number;
  readonly streamRetentionDays: number;
  readonly tokenKeyGeneration: number;
  readonly devMode: boolean;
  /** Milliseconds in which a stopping process finishes its work. It gives up the rest. */
  readonly drainMs: number;
  /** One log line a request. */
  readonly logRequests: boolean;
  readonly logLevel: string;
}

/** Members of the configuration that are keys, or credentials for other systems that no request needs. */
type Confidential = 'masterKey' | 'otherMasterKey' | 'auditKey' | 's3' | 'push';

/** The configuration as parts of the running service get it. */
export type Settings = Omit<Config, Confidential>;

/** The settings without keys. Only the composition root reads keys; other parts get objects derived from them. */
export function settingsOf(config: Config): Settings {
  const {
    masterKey: _master,
    otherMasterKey: _other,
    auditKey: _audit,
    s3: _objects,
    push: _push,
    ...settings
  } = config;
  return settings;
}

/** Variables that earlier versions read, and what to do instead. */
const RETIRED: Readonly<Record<string, string>> = {
  AUTO_ENROLL_SECRET:
    'is not read any more: give each tenant a secret of its own (POST /api/v1/admin/enrollment/agent-secret)',
};

const OTHER_NAMES = secretSettings.map(fileSetting);

/** A warning for each variable that is set and has no effect: of an earlier version, or misspelled. */
export const settingWarnings = (env: NodeJS.ProcessEnv = process.env): string[] => [
  ...Object.entries(RETIRED).flatMap(([name, advice]) => (env[name] ? [`${name} ${advice}`] : [])),
  ...misspelledSettings(env, [...settingNames, ...OTHER_NAMES]),
];

/** The directory in which the embedded database, keys and objects are kept. */
export const dataDirectory = (env: NodeJS.ProcessEnv): string => resolve(env['DATA_DIR'] || '.castellan');

const REQUIRED_KEYS = ['MASTER_KEY', 'AUDIT_HMAC_KEY', 'LICENSE_PUBLIC_KEY'];

/** What is wrong with settings only in view of others. */
function checkTogether(given: GivenSettings, { PORT, TLS_PORT }: SettingValues, problems: SettingProblems): void {
  // A file that cannot be read is a problem of its own.
  const isNamed = (key: string) => given[key] !== undefined || given[fileSetting(key)] !== undefined;
  if (PORT && PORT === TLS_PORT) problems.add('PORT and TLS_PORT must differ: one is for HTTP, the other for TLS');
  if (given['UPDATE_AUTO_DOWNLOAD'] === 'true' && !(isNamed('UPDATE_FEED_URL') && isNamed('UPDATE_PUBLIC_KEY')))
    problems.add('UPDATE_AUTO_DOWNLOAD needs UPDATE_FEED_URL, and UPDATE_PUBLIC_KEY to check what it names');
  // Keys are only generated for the embedded database: another process could not work with those of this one.
  if (given['DATABASE_URL'] === undefined) return;
  for (const name of REQUIRED_KEYS.filter((key) => !isNamed(key)))
    problems.add(`${name} is required with DATABASE_URL: \`castellan keys make\` creates all keys`);
}

/**
 * Reads the environment. All wrong settings are reported as one `ConfigError`, before anything is written or connected.
 * With the embedded database, missing keys are generated once and kept in DATA_DIR (mode 0600). With DATABASE_URL, the
 * operator must set the keys.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, role: ProcessRole = 'all'): Config {
  const problems = new SettingProblems();
  const given = givenSettings(env, secretSettings, problems);
  const settings = settingsIn(given, problems);
  const databaseUrl = problems.of(() => databaseUrlOf(given));
  const eventStoreUrl = problems.of(() => eventStoreUrlOf(given));
  const redisUrl = problems.of(() => redisUrlOf(given));
  const s3 = s3Of(given, settings, problems);
  const push = pushOf(given, settings, problems);
  checkTogether(given, settings, problems);
  problems.refuse(env);
  const dataDir = dataDirectory(given);
  const keys = new KeyFiles(dataDir, databaseUrl === undefined);
  return {
    role,
    host: settings.HOST,
    port: settings.PORT,
    tlsPort: settings.TLS_PORT,
    dataDir,
    databaseUrl,
    eventStoreUrl,
    redisUrl,
    masterKey: keys.symmetric('MASTER_KEY', settings.MASTER_KEY),
    otherMasterKey: settings.OTHER_MASTER_KEY
      ? keys.given('OTHER_MASTER_KEY', settings.OTHER_MASTER_KEY)
      : keys.formerMasterKey(),
    auditKey: keys.symmetric('AUDIT_HMAC_KEY', settings.AUDIT_HMAC_KEY),
    licensePublicKey: keys.licensePublicKey(settings.LICENSE_PUBLIC_KEY),
    recoveryKey: settings.RECOVERY_KEY,
    metricsToken: settings.METRICS_TOKEN,
    adminRateLimit: settings.RATE_LIMIT_RPS ?? ADMIN_BUDGET,
    addressRateLimit: settings.RATE_LIMIT_RPS ?? ADDRESS_BUDGET,
    enrollRateLimit: settings.ENROLL_RATE_LIMIT_RPS,
    scimRateLimit: settings.SCIM_RATE_LIMIT_RPM,
    rateBudgets: {},
    portal: settings.PORTAL_URL ? { url: settings.PORTAL_URL, apiKey: settings.PORTAL_API_KEY } : undefined,
    push,
    threatIntel: {
      scanner: { url: settings.SCANNER_URL ?? 'https://urlscan.io/', isTrusted: settings.SCANNER_URL !== undefined },
      reputation: {
        url: settings.REPUTATION_URL ?? 'https://www.virustotal.com/',
        isTrusted: settings.REPUTATION_URL !== undefined,
      },
    },
    s3,
    trustedProxies: settings.TRUSTED_PROXIES,
    clientCertificateHeader: settings.CLIENT_CERTIFICATE_HEADER,
    extensionBaseUrl: settings.EXTENSION_BASE_URL,
    corsAllowedOrigins: settings.CORS_ALLOWED_ORIGINS,
    dnsServers: settings.DNS_SERVERS,
    outboundNetworks: settings.OUTBOUND_PRIVATE_NETWORKS,
    updates: {
      runningVersion: version,
      tenantId: settings.UPDATE_TENANT_ID,
      publicKey: settings.UPDATE_PUBLIC_KEY,
      allowsUnsigned: settings.UPDATE_ALLOW_UNSIGNED,
      feedUrl: settings.UPDATE_FEED_URL,
      downloadsAutomatically: settings.UPDATE_AUTO_DOWNLOAD,
      command: settings.UPDATE_COMMAND,
      commandMs: settings.UPDATE_COMMAND_SECONDS * 1_000,
    },
    eventRetentionDays: settings.EVENT_RETENTION_DAYS,
    streamRetentionDays: settings.STREAM_RETENTION_DAYS,
    tokenKeyGeneration: settings.TOKEN_KEY_GENERATION,
    devMode: settings.DEV_MODE,
    drainMs: settings.DRAIN_SECONDS * 1_000,
    logRequests: settings.LOG_REQUESTS,
    logLevel: settings.LOG_LEVEL,
  };
}

/** `EVENTSTORE_URL` and what belongs to it, for commands that need nothing else. */
export function eventStoreUrl(env: NodeJS.ProcessEnv): string | undefined {
  const problems = new SettingProblems();
  const names = secretSettings.filter((name) => name.startsWith('EVENTSTORE_'));
  const given = givenSettings(env, names, problems);
  const url = problems.of(() => eventStoreUrlOf(given));
  problems.refuse(env);
  return url;
}
