import type { ProcessRole } from '../../platform/database/connections.ts';
import { resolve } from 'node:path';
import type { ClientCertificateHeader } from '../http/plugins/forwarded-certificate.ts';
import type { ScanService } from '../../contexts/threat-intel/domain/services.ts';
import { databaseUrlOf, eventStoreUrlOf, redisUrlOf } from './connection-urls.ts';
import { secretSettings, settingsIn, type SettingValues } from './environment.ts';
import { givenSettings, isGiven, SettingProblems, type GivenSettings } from './given-settings.ts';
import { KeyFiles } from './key-files.ts';
import type { PrivateNetworks } from '../../platform/outbound/private-networks.ts';
import { version } from '../../platform/version.ts';
import type { UpdateSettings } from '../../contexts/updates/domain/update-settings.ts';
import type { S3Settings } from '../../platform/objects/s3-objects.ts';
import { pushOf } from './push-settings.ts';
import { s3Of } from './s3-settings.ts';
import { checkTracing } from './tracing-settings.ts';
import type { PushSettings } from '../../contexts/notifications/push/open-push-services.ts';
import type { ProviderAddress } from '../../contexts/threat-intel/open-providers.ts';

/**
 * OP-350: a page of a dashboard makes about 15 requests. An administrator can open 20 pages a minute, beside three that
 * refresh every 15 seconds.
 */
const ADMIN_BUDGET = 600;
const ADDRESS_BUDGET = 100;

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

/** The directory in which the embedded database, keys and objects are kept. */
export const dataDirectory = (env: NodeJS.ProcessEnv): string => resolve(env['DATA_DIR'] || '.castellan');

const REQUIRED_KEYS = ['MASTER_KEY', 'AUDIT_HMAC_KEY', 'LICENSE_PUBLIC_KEY'];

/** What is wrong with settings only in view of others. */
function checkTogether(given: GivenSettings, { PORT, TLS_PORT }: SettingValues, problems: SettingProblems): void {
  const isNamed = (key: string) => isGiven(given, key);
  if (PORT && PORT === TLS_PORT) problems.add('PORT and TLS_PORT must differ: one is for HTTP, the other for TLS');
  if (given['UPDATE_AUTO_DOWNLOAD'] === 'true' && !(isNamed('UPDATE_FEED_URL') && isNamed('UPDATE_PUBLIC_KEY')))
    problems.add('UPDATE_AUTO_DOWNLOAD needs UPDATE_FEED_URL, and UPDATE_PUBLIC_KEY to check what it names');
  // Keys are only generated for the embedded database: another process could not work with those of this one.
  if (!isNamed('DATABASE_URL')) return;
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
  const databaseUrl = databaseUrlOf(given, problems);
  const eventStoreUrl = eventStoreUrlOf(given, problems);
  const redisUrl = redisUrlOf(given, problems);
  const s3 = s3Of(given, settings, problems);
  const push = pushOf(given, settings, problems);
  checkTracing(given, problems);
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
  const url = eventStoreUrlOf(given, problems);
  problems.refuse(env);
  return url;
}
