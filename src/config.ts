import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { ScanService } from './domain/threat-intel/services.ts';
import type { S3Settings } from './objects/s3-objects.ts';
import type { ProviderAddress } from './threat-intel/open-providers.ts';

/** A setting that is missing or wrong. Names the variable, never its value. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const count = z.coerce.number().int().min(1);

/** Every environment variable that the service reads. Empty means unset. */
const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  TLS_PORT: z.coerce.number().int().min(0).max(65_535).default(8443),
  DATA_DIR: z.string().default('.castellan'),
  DATABASE_URL: z.string().optional(),
  EVENTSTORE_URL: z.string().regex(/^(esdb|kurrentdb)(\+discover)?:\/\//).optional(),
  REDIS_URL: z.string().regex(/^rediss?:\/\//).optional(),
  MASTER_KEY: z.string().optional(),
  AUDIT_HMAC_KEY: z.string().optional(),
  LICENSE_PUBLIC_KEY: z.string().optional(),
  RECOVERY_KEY: z.string().min(16).optional(),
  METRICS_TOKEN: z.string().min(16).optional(),
  AUTO_ENROLL_SECRET: z.string().min(16).optional(),
  RATE_LIMIT_RPS: count.default(100),
  ENROLL_RATE_LIMIT_RPS: count.default(3_000),
  PORTAL_URL: z.url().optional(),
  PORTAL_API_KEY: z.string().optional(),
  SCANNER_URL: z.url({ protocol: /^https?$/ }).optional(),
  REPUTATION_URL: z.url({ protocol: /^https?$/ }).optional(),
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  S3_BUCKET: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/).optional(),
  S3_REGION: z.string().regex(/^[a-z0-9-]{1,40}$/).default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_TRUSTED: flag.default(false),
  TRUSTED_PROXIES: z.string().default(''),
  EVENT_RETENTION_DAYS: count.default(90),
  STREAM_RETENTION_DAYS: count.default(365),
  TOKEN_KEY_GENERATION: count.default(1),
  DEV_MODE: flag.default(false),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export type Role = 'all' | 'api' | 'projector' | 'worker';

export interface Config {
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly eventStoreUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly masterKey: Buffer;
  readonly auditKey: Buffer;
  /** PEM, Ed25519. */
  readonly licensePublicKey: string;
  readonly recoveryKey: string | undefined;
  readonly metricsToken: string | undefined;
  readonly autoEnrollSecret: string | undefined;
  /** Requests per 60-second window, whatever the variables' names say (choice OP-212). */
  readonly adminRateLimit: number;
  readonly enrollRateLimit: number;
  /** Other budgets than the interface's, by class, for load tests: not to be set from outside. */
  readonly rateBudgets: Readonly<Record<string, number>>;
  readonly portal: { readonly url: string; readonly apiKey: string | undefined } | undefined;
  /** The services that are asked about domains. */
  readonly threatIntel: Readonly<Record<ScanService, ProviderAddress>>;
  /** Where objects are kept besides the databases; undefined: in a directory below `dataDir`. */
  readonly s3: S3Settings | undefined;
  readonly trustedProxies: readonly string[];
  readonly eventRetentionDays: number;
  readonly streamRetentionDays: number;
  readonly tokenKeyGeneration: number;
  readonly devMode: boolean;
  readonly logLevel: string;
}

/**
 * Reads the environment. With the embedded database, keys that are not given are made once and kept in DATA_DIR (mode
 * 0600); with a database of its own the operator must say which keys belong to it, and a missing one ends the start.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env, role: Role = 'all'): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const read = environment.safeParse(given);
  if (!read.success) throw new ConfigError(`${read.error.issues[0]?.path.join('.')}: ${read.error.issues[0]?.message}`);
  const settings = read.data;
  const dataDir = resolve(settings.DATA_DIR);
  const keys = new KeyFiles(dataDir, settings.DATABASE_URL === undefined);
  return {
    role,
    host: settings.HOST,
    port: settings.PORT,
    tlsPort: settings.TLS_PORT,
    dataDir,
    databaseUrl: settings.DATABASE_URL,
    eventStoreUrl: settings.EVENTSTORE_URL,
    redisUrl: settings.REDIS_URL,
    masterKey: keys.symmetric('MASTER_KEY', settings.MASTER_KEY),
    auditKey: keys.symmetric('AUDIT_HMAC_KEY', settings.AUDIT_HMAC_KEY),
    licensePublicKey: keys.licensePublicKey(settings.LICENSE_PUBLIC_KEY),
    recoveryKey: settings.RECOVERY_KEY,
    metricsToken: settings.METRICS_TOKEN,
    autoEnrollSecret: settings.AUTO_ENROLL_SECRET,
    adminRateLimit: settings.RATE_LIMIT_RPS,
    enrollRateLimit: settings.ENROLL_RATE_LIMIT_RPS,
    rateBudgets: {},
    portal: settings.PORTAL_URL ? { url: settings.PORTAL_URL, apiKey: settings.PORTAL_API_KEY } : undefined,
    threatIntel: {
      scanner: { url: settings.SCANNER_URL ?? 'https://urlscan.io/', isTrusted: settings.SCANNER_URL !== undefined },
      reputation: { url: settings.REPUTATION_URL ?? 'https://www.virustotal.com/', isTrusted: settings.REPUTATION_URL !== undefined },
    },
    s3: s3Of(settings),
    trustedProxies: settings.TRUSTED_PROXIES.split(',').map((cidr) => cidr.trim()).filter(Boolean),
    eventRetentionDays: settings.EVENT_RETENTION_DAYS,
    streamRetentionDays: settings.STREAM_RETENTION_DAYS,
    tokenKeyGeneration: settings.TOKEN_KEY_GENERATION,
    devMode: settings.DEV_MODE,
    logLevel: settings.LOG_LEVEL,
  };
}

/** All of it or nothing: half a configuration would keep objects where nobody expects them. */
function s3Of({ S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey, S3_TRUSTED: isTrusted }: z.output<typeof environment>): S3Settings | undefined {
  if (!endpoint && !bucket && !accessKeyId && !secretAccessKey) return undefined;
  const missing = Object.entries({ S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey }).find(([, value]) => !value);
  if (missing) throw new ConfigError(`${missing[0]} is required with the other S3 settings`);
  return { endpoint: endpoint!, bucket: bucket!, region, accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, isTrusted };
}

/** The private half of the license key pair that the embedded default made, for `castellan license issue`. */
export function licenseSigningKey(dataDir: string): string {
  const file = join(resolve(dataDir), 'keys', 'license-signing.pem');
  if (!existsSync(file)) throw new ConfigError(`there is no license signing key in ${dataDir}: licenses for this installation are signed elsewhere`);
  return readFileSync(file, 'utf8');
}

class KeyFiles {
  readonly #folder: string;
  readonly #embedded: boolean;

  constructor(dataDir: string, embedded: boolean) {
    this.#folder = join(dataDir, 'keys');
    this.#embedded = embedded;
  }

  /** 32 bytes, given as 64 hex digits or in base64. */
  symmetric(name: string, given: string | undefined): Buffer {
    const text = given ?? this.#kept(name, `${name.toLowerCase().replaceAll('_', '-')}`, () => randomBytes(32).toString('hex'));
    const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
    if (key.length !== 32) throw new ConfigError(`${name} must be 32 bytes, as 64 hex digits or in base64`);
    return key;
  }

  licensePublicKey(given: string | undefined): string {
    if (given) return given.replaceAll('\\n', '\n');
    const pem = this.#kept('LICENSE_PUBLIC_KEY', 'license-signing.pem', () =>
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
    return createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' }).toString();
  }

  #kept(name: string, fileName: string, make: () => string): string {
    if (!this.#embedded) throw new ConfigError(`${name} is required with DATABASE_URL`);
    const file = join(this.#folder, fileName);
    if (!existsSync(file)) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      // `wx`: of two processes that start at once, one writes and the other reads.
      try {
        writeFileSync(file, make(), { mode: 0o600, flag: 'wx' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  }
}
