import type { ProcessRole } from '../../platform/database/connections.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../../platform/config-error.ts';
import type { ScanService } from '../../contexts/threat-intel/domain/services.ts';
import { KeyFiles } from './key-files.ts';
import { privateNetworks, type PrivateNetworks } from '../../platform/outbound/private-networks.ts';
import type { S3Settings } from '../../platform/objects/s3-objects.ts';
import type { ProviderAddress } from '../../contexts/threat-intel/open-providers.ts';

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const count = z.coerce.number().int().min(1);

/** Every environment variable that the service reads. Empty means unset. */
const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  TLS_PORT: z.coerce.number().int().min(0).max(65_535).default(8443),
  DATA_DIR: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  EVENTSTORE_URL: z.string().optional(),
  EVENTSTORE_URL_FILE: z.string().optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//)
    .optional(),
  MASTER_KEY: z.string().optional(),
  OTHER_MASTER_KEY: z.string().optional(),
  AUDIT_HMAC_KEY: z.string().optional(),
  LICENSE_PUBLIC_KEY: z.string().optional(),
  RECOVERY_KEY: z.string().min(16).optional(),
  METRICS_TOKEN: z.string().min(16).optional(),
  RATE_LIMIT_RPS: count.default(100),
  ENROLL_RATE_LIMIT_RPS: count.default(3_000),
  PORTAL_URL: z.url().optional(),
  PORTAL_API_KEY: z.string().optional(),
  SCANNER_URL: z.url({ protocol: /^https?$/ }).optional(),
  REPUTATION_URL: z.url({ protocol: /^https?$/ }).optional(),
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
    .optional(),
  S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_TRUSTED: flag.default(false),
  TRUSTED_PROXIES: z.string().default(''),
  DNS_SERVERS: z.string().default(''),
  OUTBOUND_PRIVATE_NETWORKS: z.string().default(''),
  EVENT_RETENTION_DAYS: count.default(90),
  STREAM_RETENTION_DAYS: count.default(365),
  TOKEN_KEY_GENERATION: count.default(1),
  DEV_MODE: flag.default(false),
  DRAIN_SECONDS: z.coerce.number().int().min(1).max(600).default(10),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** Names of the environment variables, in the order of the schema. README.md describes each of them. */
export const settingNames: readonly string[] = Object.keys(environment.shape);

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
  /** Requests per 60-second window, despite the `RPS` in the variables' names (choice OP-212). */
  readonly adminRateLimit: number;
  readonly enrollRateLimit: number;
  /** Overrides the specified budgets, by class. For load tests only: no environment variable sets it. */
  readonly rateBudgets: Readonly<Record<string, number>>;
  readonly portal: { readonly url: string; readonly apiKey: string | undefined } | undefined;
  /** The external services that scan domains. */
  readonly threatIntel: Readonly<Record<ScanService, ProviderAddress>>;
  /** Object storage. If undefined, objects are files in a directory below `dataDir`. */
  readonly s3: S3Settings | undefined;
  readonly trustedProxies: readonly string[];
  /** Name servers that verify the domains of organizations. If empty, those of the machine. */
  readonly dnsServers: readonly string[];
  /** Private networks that destinations chosen by administrators may be in. */
  readonly outboundNetworks: PrivateNetworks;
  readonly eventRetentionDays: number;
  readonly streamRetentionDays: number;
  readonly tokenKeyGeneration: number;
  readonly devMode: boolean;
  /** Milliseconds in which a stopping process finishes its work. It gives up the rest. */
  readonly drainMs: number;
  readonly logLevel: string;
}

/** Members of the configuration that are keys, or credentials for other systems that no request needs. */
type Confidential = 'masterKey' | 'otherMasterKey' | 'auditKey' | 's3';

/** The configuration as parts of the running service get it. */
export type Settings = Omit<Config, Confidential>;

/** The settings without keys. Only the composition root reads keys; other parts get objects derived from them. */
export function settingsOf(config: Config): Settings {
  const { masterKey: _master, otherMasterKey: _other, auditKey: _audit, s3: _objects, ...settings } = config;
  return settings;
}

/** Variables that earlier versions read, and what to do instead. */
const RETIRED: Readonly<Record<string, string>> = {
  AUTO_ENROLL_SECRET:
    'is not read any more: give each tenant a secret of its own (POST /api/v1/admin/enrollment/agent-secret)',
};

/** A warning for each variable that is set but no longer has an effect. */
export const retiredSettings = (env: NodeJS.ProcessEnv = process.env): string[] =>
  Object.entries(RETIRED).flatMap(([name, advice]) => (env[name] ? [`${name} ${advice}`] : []));

/** The directory in which the embedded database, keys and objects are kept. */
export const dataDirectory = (env: NodeJS.ProcessEnv): string => resolve(env['DATA_DIR'] || '.castellan');

/**
 * Reads the environment. With the embedded database, missing keys are generated once and kept in DATA_DIR (mode 0600).
 * With DATABASE_URL, the operator must set the keys. Throws `ConfigError` for a missing or invalid setting.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, role: ProcessRole = 'all'): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const read = environment.safeParse(given);
  if (!read.success) throw new ConfigError(`${read.error.issues[0]?.path.join('.')}: ${read.error.issues[0]?.message}`);
  const settings = read.data;
  const dataDir = dataDirectory(given);
  const keys = new KeyFiles(dataDir, settings.DATABASE_URL === undefined);
  return {
    role,
    host: settings.HOST,
    port: settings.PORT,
    tlsPort: settings.TLS_PORT,
    dataDir,
    databaseUrl: settings.DATABASE_URL,
    eventStoreUrl: eventStoreUrl(given),
    redisUrl: settings.REDIS_URL,
    masterKey: keys.symmetric('MASTER_KEY', settings.MASTER_KEY),
    otherMasterKey: settings.OTHER_MASTER_KEY
      ? keys.given('OTHER_MASTER_KEY', settings.OTHER_MASTER_KEY)
      : keys.formerMasterKey(),
    auditKey: keys.symmetric('AUDIT_HMAC_KEY', settings.AUDIT_HMAC_KEY),
    licensePublicKey: keys.licensePublicKey(settings.LICENSE_PUBLIC_KEY),
    recoveryKey: settings.RECOVERY_KEY,
    metricsToken: settings.METRICS_TOKEN,
    adminRateLimit: settings.RATE_LIMIT_RPS,
    enrollRateLimit: settings.ENROLL_RATE_LIMIT_RPS,
    rateBudgets: {},
    portal: settings.PORTAL_URL ? { url: settings.PORTAL_URL, apiKey: settings.PORTAL_API_KEY } : undefined,
    threatIntel: {
      scanner: { url: settings.SCANNER_URL ?? 'https://urlscan.io/', isTrusted: settings.SCANNER_URL !== undefined },
      reputation: {
        url: settings.REPUTATION_URL ?? 'https://www.virustotal.com/',
        isTrusted: settings.REPUTATION_URL !== undefined,
      },
    },
    s3: s3Of(settings),
    trustedProxies: listed(settings.TRUSTED_PROXIES),
    dnsServers: listed(settings.DNS_SERVERS),
    outboundNetworks: outboundNetworks(settings.OUTBOUND_PRIVATE_NETWORKS),
    eventRetentionDays: settings.EVENT_RETENTION_DAYS,
    streamRetentionDays: settings.STREAM_RETENTION_DAYS,
    tokenKeyGeneration: settings.TOKEN_KEY_GENERATION,
    devMode: settings.DEV_MODE,
    drainMs: settings.DRAIN_SECONDS * 1_000,
    logLevel: settings.LOG_LEVEL,
  };
}

/** `EVENTSTORE_URL`, or the content of the file `EVENTSTORE_URL_FILE`, because the URL may hold a password. */
export function eventStoreUrl(env: NodeJS.ProcessEnv): string | undefined {
  const { EVENTSTORE_URL: url, EVENTSTORE_URL_FILE: file } = env;
  if (url && file) throw new ConfigError('EVENTSTORE_URL and EVENTSTORE_URL_FILE are both set: remove one');
  const found = file ? secretFile('EVENTSTORE_URL_FILE', file) : url || undefined;
  if (found !== undefined && !/^(esdb|kurrentdb)(\+discover)?:\/\//i.test(found))
    throw new ConfigError(`${file ? 'EVENTSTORE_URL_FILE' : 'EVENTSTORE_URL'} must begin with esdb:// or kurrentdb://`);
  return found;
}

/** The text of a file that a setting names, without the newline at its end. */
export function secretFile(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(
      `${setting} names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code}): correct the path or its rights`,
    );
  }
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

function outboundNetworks(text: string): PrivateNetworks {
  try {
    return privateNetworks(listed(text));
  } catch (error) {
    throw new ConfigError(`OUTBOUND_PRIVATE_NETWORKS: ${(error as RangeError).message}`);
  }
}

/** All S3 settings or none: with only some of them, objects would silently be kept in `dataDir`. */
function s3Of({
  S3_ENDPOINT: endpoint,
  S3_BUCKET: bucket,
  S3_REGION: region,
  S3_ACCESS_KEY_ID: accessKeyId,
  S3_SECRET_ACCESS_KEY: secretAccessKey,
  S3_TRUSTED: isTrusted,
}: z.output<typeof environment>): S3Settings | undefined {
  if (!endpoint && !bucket && !accessKeyId && !secretAccessKey) return undefined;
  const missing = Object.entries({
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  }).find(([, value]) => !value);
  if (missing) throw new ConfigError(`${missing[0]} is required with the other S3 settings`);
  return {
    endpoint: endpoint!,
    bucket: bucket!,
    region,
    accessKeyId: accessKeyId!,
    secretAccessKey: secretAccessKey!,
    isTrusted,
  };
}
