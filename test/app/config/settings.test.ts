import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/app/config/config.ts';
import { secretSettings, settingNames } from '../../../src/app/config/environment.ts';
import { settingWarnings } from '../../../src/app/config/setting-warnings.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { PrivateAuthority } from '../../fixtures/eventstoredb/certificates.ts';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const folder = scratchFolder('settings');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEYS = { MASTER_KEY: 'a'.repeat(64), AUDIT_HMAC_KEY: 'b'.repeat(64), LICENSE_PUBLIC_KEY: licensePublicKeyPem };
const OWN = { ...KEYS, DATABASE_URL: 'postgresql://castellan@db.example:5432/castellan', DATA_DIR: folder };

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const appleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pkcs8).toString().trim();
const serviceAccount = JSON.stringify({
  type: 'service_account',
  project_id: 'my-project',
  client_email: 'push@my-project.example',
  private_key: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export(pkcs8).toString(),
});
const apns = { APNS_KEY_ID: 'KEY1234567', APNS_TEAM_ID: 'TEAM123456', APNS_TOPIC: 'com.example.app' };

function refusal(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return 'accepted';
}

describe('wrong settings', () => {
  const WRONG: Readonly<Record<string, string>> = {
    PORT: 'abc-wrong',
    TLS_PORT: '70000-wrong',
    DATABASE_URL: 'nonsense-wrong',
    EVENTSTORE_URL: 'http://wrong',
    EVENTSTORE_PASSWORD: 'wrong-password',
    EVENTSTORE_CA: 'wrong',
    REDIS_URL: 'http://wrong:6379',
    MASTER_KEY: 'wrong',
    OTHER_MASTER_KEY: 'wrong',
    AUDIT_HMAC_KEY: 'wrong',
    LICENSE_PUBLIC_KEY: 'wrong',
    RECOVERY_KEY: 'wrong',
    METRICS_TOKEN: 'wrong',
    RATE_LIMIT_RPS: '-1wrong',
    ENROLL_RATE_LIMIT_RPS: '1.5wrong',
    SCIM_RATE_LIMIT_RPM: '0wrong',
    PORTAL_URL: 'ftp://wrong',
    PUSH_GATEWAY_URL: 'ftp://wrong',
    FCM_SERVICE_ACCOUNT: '{"wrong": true}',
    APNS_KEY: 'wrong',
    APNS_KEY_ID: 'wrong',
    APNS_TEAM_ID: 'wrong',
    APNS_TOPIC: 'wrong topic',
    APNS_ENVIRONMENT: 'wrong',
    SCANNER_URL: 'wrong',
    REPUTATION_URL: 'wrong',
    S3_ENDPOINT: 'ftp://wrong',
    S3_BUCKET: 'Wrong Bucket',
    S3_REGION: 'wrong region',
    S3_TRUSTED: 'wrong',
    TRUSTED_PROXIES: 'wrong-not-an-ip',
    CLIENT_CERTIFICATE_HEADER: 'X-Wrong-Header',
    DNS_SERVERS: 'wrong.example',
    OUTBOUND_PRIVATE_NETWORKS: 'wrong',
    CORS_ALLOWED_ORIGINS: 'https://*.wrong.example',
    EXTENSION_BASE_URL: 'http://wrong.example',
    LOG_REQUESTS: 'wrong',
    UPDATE_TENANT_ID: 'wrong',
    UPDATE_PUBLIC_KEY: 'wrong',
    UPDATE_ALLOW_UNSIGNED: 'wrong',
    UPDATE_FEED_URL: 'ftp://wrong',
    UPDATE_AUTO_DOWNLOAD: 'wrong',
    UPDATE_COMMAND: 'wrong --relative',
    UPDATE_COMMAND_SECONDS: '3601wrong',
    EVENT_RETENTION_DAYS: '0wrong',
    STREAM_RETENTION_DAYS: '0wrong',
    TOKEN_KEY_GENERATION: '0wrong',
    DEV_MODE: 'wrong',
    DRAIN_SECONDS: '601wrong',
    LOG_LEVEL: 'wrong',
  };
  /** Any text is a valid value. */
  const ANY = [
    'HOST',
    'DATA_DIR',
    'DATABASE_PASSWORD',
    'REDIS_PASSWORD',
    'PORTAL_API_KEY',
    'PUSH_GATEWAY_TOKEN',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
  ];

  it('are all reported at once, each by name, without a value, before anything is written', () => {
    const dataDir = join(folder, 'untouched');
    const message = refusal({ ...WRONG, DATA_DIR: dataDir });
    const [head, ...lines] = message.split('\n');
    // Without a URL that can be read, nothing is wrong with the password.
    const named = Object.keys(WRONG).filter((name) => name !== 'EVENTSTORE_PASSWORD');
    const judged = lines.filter((line) => !line.includes(' excludes '));
    for (const name of named) expect(judged.filter((line) => line.startsWith(`  ${name} `))).toHaveLength(1);
    expect(head).toBe(`${lines.length} settings are wrong:`);
    for (const value of Object.values(WRONG)) if (value !== 'wrong') expect(message).not.toContain(value);
    expect(existsSync(dataDir)).toBe(false);
  });

  it('are each refused alone, too', () => {
    for (const [name, value] of Object.entries(WRONG)) {
      const message = refusal({ ...OWN, [name]: value });
      expect(message.split('\n').find((line) => line.trim().startsWith(`${name} `))).toBeDefined();
      if (value !== 'wrong') expect(message).not.toContain(value);
    }
  });

  it('are tried above for every setting that can be wrong', () => {
    expect([...Object.keys(WRONG), ...ANY].toSorted()).toEqual([...settingNames].toSorted());
  });

  it('include what is missing beside others', () => {
    expect(refusal({ DATABASE_URL: OWN.DATABASE_URL, S3_BUCKET: 'bucket', PORT: '8443' }).split('\n')).toEqual([
      '7 settings are wrong:',
      ...['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'].map(
        (name) => `  ${name} is required with the other S3 settings`,
      ),
      '  PORT and TLS_PORT must differ: one is for HTTP, the other for TLS',
      ...Object.keys(KEYS).map(
        (name) => `  ${name} is required with DATABASE_URL: \`castellan keys make\` creates all keys`,
      ),
    ]);
  });

  it('include all that is wrong with the settings of one server', () => {
    const eventStore = { EVENTSTORE_PASSWORD: 'twice', EVENTSTORE_CA: 'wrong' };
    expect(
      refusal({ ...OWN, ...eventStore, EVENTSTORE_URL: 'esdb://user:once@host?spelled=wrong' }).split('\n'),
    ).toEqual([
      '3 settings are wrong:',
      '  EVENTSTORE_CA must begin with a certificate in PEM: that of the authority',
      '  EVENTSTORE_PASSWORD and a password in EVENTSTORE_URL are both set: remove one',
      '  EVENTSTORE_URL has an unknown option "spelled": check its spelling',
    ]);
    expect(refusal({ ...OWN, ...eventStore, EVENTSTORE_URL: 'esdb://user@host?tls=false' })).toMatch(/^EVENTSTORE_CA /);
    expect(
      refusal({ ...OWN, ...eventStore })
        .split('\n')
        .slice(2),
    ).toEqual([
      '  EVENTSTORE_PASSWORD is set, and EVENTSTORE_URL is not: set both',
      '  EVENTSTORE_CA is set, and EVENTSTORE_URL is not: set both',
    ]);
    expect(
      refusal({
        ...OWN,
        DATABASE_URL: 'postgresql://a:once@host/d?sslmode=wrong&sslrootcert=/nowhere&sslkey=/nowhere',
        DATABASE_PASSWORD: 'twice',
      }),
    ).toMatch(/^4 settings[^]*sslmode[^]*sslrootcert[^]*sslkey[^]*DATABASE_PASSWORD/);
  });

  it('do not include what is missing only because its file cannot be read', () => {
    const lines = refusal({
      DATABASE_URL_FILE: '/nowhere',
      DATABASE_PASSWORD: 'password',
      S3_ENDPOINT: 'https://s3.example',
      S3_BUCKET: 'bucket',
      S3_ACCESS_KEY_ID: 'id',
      S3_SECRET_ACCESS_KEY_FILE: '/nowhere',
      ...apns,
      APNS_KEY_FILE: '/nowhere',
    }).split('\n');
    expect(lines.slice(1)).toEqual([
      ...['DATABASE_URL', 'APNS_KEY', 'S3_SECRET_ACCESS_KEY'].map((name) =>
        expect.stringMatching(`^  ${name}_FILE names /nowhere, which cannot be read`),
      ),
      ...Object.keys(KEYS).map((name) => expect.stringMatching(`^  ${name} is required with DATABASE_URL`)),
    ]);
  });

  it('include a named pipe in the place of a file, and do not wait for it', () => {
    const pipe = join(folder, 'pipe');
    mkdirSync(folder, { recursive: true });
    const stop = makeNamedPipe(pipe);
    const { MASTER_KEY: _, ...others } = OWN;
    const url = `${OWN.DATABASE_URL}?sslmode=verify-full&sslrootcert=${pipe}`;
    expect(
      refusal({ ...others, MASTER_KEY_FILE: pipe, DATABASE_URL: url })
        .split('\n')
        .slice(1),
    ).toEqual([
      `  MASTER_KEY_FILE names ${pipe}, which cannot be read (it is a named pipe): correct the path or its rights`,
      `  DATABASE_URL: sslrootcert names ${pipe}, which cannot be read (it is a named pipe): correct the path or its rights`,
    ]);
    stop();
  });

  it.each(['rsa', 'x25519'] as const)('include a license key of another kind: %s', (kind) => {
    const { publicKey } =
      kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync(kind);
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(refusal({ ...OWN, LICENSE_PUBLIC_KEY: pem })).toMatch(/^LICENSE_PUBLIC_KEY must be an Ed25519 public key/);
  });
});

describe('TLS to the database', () => {
  const url = (parameters: string) => `${OWN.DATABASE_URL}?${parameters}`;

  it.each([
    ['sslmode=nonsense', 'DATABASE_URL: sslmode must be one of '],
    [
      'sslmode=verify-full&sslrootcert=/nowhere',
      'DATABASE_URL: sslrootcert names /nowhere, which cannot be read (ENOENT)',
    ],
    ['sslrootcert=/etc/hostname', 'DATABASE_URL: sslrootcert names /etc/hostname, which holds no CERTIFICATE in PEM'],
    ['sslkey=/etc/hostname', 'DATABASE_URL: sslkey names /etc/hostname, which holds no PRIVATE KEY in PEM'],
  ])('is refused by name if it cannot be had: %s', (parameters, message) => {
    expect(refusal({ ...OWN, DATABASE_URL: url(parameters) })).toContain(message);
  });

  it.each([
    [
      'sslmod=require',
      'DATABASE_URL: sslmod is not a parameter, and would have no effect; those are application_name,',
    ],
    ['connect_timeout=5', 'DATABASE_URL: connect_timeout is not a parameter'],
    ['constructor=x', 'DATABASE_URL: constructor is not a parameter'],
    ['SSLMODE=require', 'DATABASE_URL: SSLMODE is not a parameter'],
    ['ssl=false', 'DATABASE_URL: ssl must be one of true, 1, 0, no-verify'],
    ['sslmode=require&sslmode=disable', 'DATABASE_URL: sslmode is there twice: remove one'],
    ['sslnegotiation=soon', 'DATABASE_URL: sslnegotiation must be one of postgres, direct'],
    ['sslnegotiation=direct&sslmode=disable', 'DATABASE_URL: sslnegotiation=direct needs TLS'],
    ['sslmode=verify-ca&uselibpqcompat=true', 'DATABASE_URL: sslmode=verify-ca needs sslrootcert'],
  ])('is refused by name if it is misspelled or contradicts itself: %s', (parameters, message) => {
    expect(refusal({ ...OWN, DATABASE_URL: url(parameters) })).toContain(message);
    expect(refusal({ ...OWN, DATABASE_URL: url(`x=y&${parameters}`) })).toMatch(/^2 settings are wrong/);
  });

  it.each([
    'sslmode=require',
    'sslmode=disable',
    'application_name=x',
    'ssl=true&sslnegotiation=direct',
    'options=-c%20work_mem%3D1MB&statement_timeout=5000&user=castellan&password=p%40ss',
  ])('may be demanded or left out: %s', (parameters) => {
    expect(refusal({ ...OWN, DATABASE_URL: url(parameters) })).toBe('accepted');
  });
});

describe('a password with any characters', () => {
  const PASSWORD = 'p@ss/w#rd?%:&= ü';

  it.each(['p@ss/w#rd', '12/ab', '12?ab', '12#ab', 'a%zz'])('is never cut off in a URL: %s', (password) => {
    const message = refusal({ ...OWN, DATABASE_URL: `postgres://castellan:${password}@db.example:5432/castellan` });
    expect(message).toMatch(/^DATABASE_URL cannot be read: .*DATABASE_PASSWORD/);
    expect(message).not.toContain(password);
    expect(message).not.toContain('db.example');
  });

  it('may be set beside the URL', () => {
    const config = readConfig({
      ...OWN,
      DATABASE_PASSWORD: PASSWORD,
      REDIS_URL: 'redis://redis.example:6379',
      REDIS_PASSWORD: PASSWORD,
      EVENTSTORE_URL: 'esdb://castellan@n1.example:2113,n2.example:2113',
      EVENTSTORE_PASSWORD: PASSWORD,
    });
    for (const url of [config.databaseUrl, config.redisUrl])
      expect(decodeURIComponent(new URL(url!).password)).toBe(PASSWORD);
    expect(config.eventStoreUrl).toBe(
      `esdb://castellan:${encodeURIComponent(PASSWORD)}@n1.example:2113,n2.example:2113?givenBy=EVENTSTORE_PASSWORD`,
    );
  });

  it('is refused twice, without a user, and without a URL', () => {
    expect(refusal({ ...OWN, DATABASE_URL: 'postgres://a:b@c/d', DATABASE_PASSWORD: PASSWORD })).toMatch(/both set/);
    expect(refusal({ ...OWN, DATABASE_URL: 'postgres://c/d', DATABASE_PASSWORD: PASSWORD })).toMatch(/needs a user/);
    expect(refusal({ ...OWN, REDIS_PASSWORD: PASSWORD })).toBe('REDIS_PASSWORD is set, and REDIS_URL is not: set both');
  });

  it('may stand in a URL whose host is a Unix socket, as in libpq', () => {
    const socket = 'postgresql://castellan:p%40ss@/castellan?host=%2Fvar%2Frun%2Fpostgresql&port=5432';
    expect(readConfig({ ...OWN, DATABASE_URL: socket }).databaseUrl).toBe(socket);
    expect(refusal({ ...OWN, DATABASE_URL: 'postgresql://castellan:p%40ss@/castellan' })).toMatch(/cannot be read/);
  });
});

describe('the command of updates', () => {
  const commandOf = (text: string) => readConfig({ ...OWN, UPDATE_COMMAND: text }).updates.command;

  it('is a path, or a list with arguments, and is never split', () => {
    expect(commandOf('/opt/my programs/update')).toEqual(['/opt/my programs/update']);
    expect(commandOf('["/opt/update","a b","$(id)"]')).toEqual(['/opt/update', 'a b', '$(id)']);
    for (const text of ['update', '[]', '["update"]', '["/opt/update",1]', '["/opt/update"', '{"a":1}'])
      expect(refusal({ ...OWN, UPDATE_COMMAND: text })).toMatch(
        /^UPDATE_COMMAND must be the absolute path of a program/,
      );
  });
});

describe('a secret', () => {
  it('may come from a file, whichever it is', () => {
    const authority = new PrivateAuthority().certificatePem;
    const secrets: Readonly<Record<string, string>> = {
      ...KEYS,
      DATABASE_URL: OWN.DATABASE_URL,
      DATABASE_PASSWORD: 'one',
      EVENTSTORE_URL: 'esdb://castellan@events.example:2113',
      EVENTSTORE_PASSWORD: 'two',
      EVENTSTORE_CA: authority,
      REDIS_URL: 'rediss://redis.example',
      REDIS_PASSWORD: 'three',
      OTHER_MASTER_KEY: 'c'.repeat(64),
      RECOVERY_KEY: 'sixteen characters',
      METRICS_TOKEN: 'sixteen characters, too',
      PORTAL_API_KEY: 'four',
      S3_ACCESS_KEY_ID: 'five',
      S3_SECRET_ACCESS_KEY: 'six',
      UPDATE_PUBLIC_KEY: licensePublicKeyPem,
      PUSH_GATEWAY_TOKEN: 'seven',
      FCM_SERVICE_ACCOUNT: serviceAccount,
      APNS_KEY: appleKey,
    };
    expect(Object.keys(secrets).toSorted()).toEqual([...secretSettings].toSorted());
    const files = Object.entries(secrets).map(([name, text]) => {
      const file = join(folder, name);
      writeFileSync(file, `${text}\n`);
      return [`${name}_FILE`, file];
    });
    const rest = {
      DATA_DIR: folder,
      PORTAL_URL: 'https://p.example',
      S3_ENDPOINT: 'https://s3.example',
      S3_BUCKET: 'bucket',
      ...apns,
    };
    const trimmed = Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, text.trim()]));
    const read = readConfig({ ...rest, ...Object.fromEntries(files) });
    // It also tells which settings its parts come from.
    const eventStoreUrl = read.eventStoreUrl!.replace(
      'EVENTSTORE_URL_FILE,EVENTSTORE_PASSWORD_FILE,EVENTSTORE_CA_FILE',
      'EVENTSTORE_PASSWORD,EVENTSTORE_CA',
    );
    expect({ ...read, eventStoreUrl }).toEqual(readConfig({ ...rest, ...trimmed }));
  });

  it('is refused twice, in a file that is missing or empty, and under the name of the file if it is wrong', () => {
    mkdirSync(join(folder, 'files'));
    const file = (text: string) => (writeFileSync(join(folder, 'files/text'), text), join(folder, 'files/text'));
    expect(refusal({ METRICS_TOKEN: 'a'.repeat(16), METRICS_TOKEN_FILE: 'x' })).toBe(
      'METRICS_TOKEN and METRICS_TOKEN_FILE are both set: remove one',
    );
    expect(refusal({ METRICS_TOKEN_FILE: '/nowhere' })).toMatch(/^METRICS_TOKEN_FILE names \/nowhere, .*\(ENOENT\)/);
    expect(refusal({ METRICS_TOKEN_FILE: file('\n') })).toMatch(/is empty$/);
    expect(refusal({ ...KEYS, DATABASE_URL_FILE: file('postgresql://a@b/c?sslmode=wrong') })).toMatch(
      /^DATABASE_URL_FILE: sslmode must be one of/,
    );
    expect(refusal({ METRICS_TOKEN_FILE: file('short') })).toBe(
      'METRICS_TOKEN_FILE needs a value of at least 16 characters',
    );
  });
});

describe('the authority of the event store', () => {
  it('may be one line, as a file of Docker holds it', () => {
    const pem = new PrivateAuthority().certificatePem;
    const eventStore = { EVENTSTORE_URL: 'esdb://user@host', EVENTSTORE_PASSWORD: 'password' };
    const urlWith = (authority: string) =>
      readConfig({ ...OWN, ...eventStore, EVENTSTORE_CA: authority }).eventStoreUrl;
    expect(urlWith(`"${pem.replaceAll('\n', '\\n')}"`)).toBe(urlWith(pem));
  });
});

describe('a variable that is almost a setting', () => {
  it('is reported, with the name that was meant', () => {
    expect(settingWarnings({ RATE_LIMT_RPS: '1', LOGLEVEL: 'x', MASTERKEY_FILE: '/x' })).toEqual([
      'RATE_LIMT_RPS is not a setting and has no effect: did you mean RATE_LIMIT_RPS?',
      'LOGLEVEL is not a setting and has no effect: did you mean LOG_LEVEL?',
      'MASTERKEY_FILE is not a setting and has no effect: did you mean MASTER_KEY_FILE?',
    ]);
  });

  it('is reported as the file of a setting that is no secret', () => {
    expect(settingWarnings({ PORT_FILE: '/x', MASTER_KEY_FILE: '/x', LOG_LEVEL_FILE: '' })).toEqual([
      'PORT_FILE is not a setting and has no effect: only secrets can be in a file; set PORT',
    ]);
  });

  it('is none of those that machines usually have', () => {
    const usual = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'LANG',
      'SHELL',
      'USER',
      'PWD',
      'NODE_ENV',
      'TERM',
      'LOGNAME',
      'PORTS',
      'HOSTS',
      'POSTGRES_PASSWORD',
    ];
    expect(settingWarnings(Object.fromEntries(usual.map((name) => [name, 'x'])))).toEqual([]);
    expect(settingWarnings({ RATE_LIMT_RPS: '' })).toEqual([]);
  });
});

describe('the settings of push services', () => {
  const read = (over: NodeJS.ProcessEnv) => readConfig({ ...OWN, ...over });

  it('are a gateway, or those of FCM and APNs', () => {
    expect(read({}).push).toEqual({ gateway: undefined, fcm: undefined, apns: undefined });
    expect(read({ PUSH_GATEWAY_URL: 'https://push.example/x', PUSH_GATEWAY_TOKEN: 't' }).push.gateway).toEqual({
      url: 'https://push.example/x',
      token: 't',
    });
    const { fcm, apns: apple } = read({ FCM_SERVICE_ACCOUNT: serviceAccount, APNS_KEY: appleKey, ...apns }).push;
    expect(fcm).toMatchObject({ projectId: 'my-project', account: { clientEmail: 'push@my-project.example' } });
    expect(apple).toMatchObject({ keyId: 'KEY1234567', topic: 'com.example.app', url: 'https://api.push.apple.com' });
    expect(read({ APNS_KEY: appleKey, ...apns, APNS_ENVIRONMENT: 'sandbox' }).push.apns?.url).toBe(
      'https://api.sandbox.push.apple.com',
    );
  });

  it('are refused if they are incomplete, or if a gateway would get what another service should', () => {
    expect(() => read({ APNS_KEY: appleKey, APNS_KEY_ID: 'KEY1234567' })).toThrow(
      /APNS_TEAM_ID is required[^]*APNS_TOPIC is required/,
    );
    expect(() => read({ PUSH_GATEWAY_URL: 'https://push.example', FCM_SERVICE_ACCOUNT: serviceAccount })).toThrow(
      /PUSH_GATEWAY_URL excludes/,
    );
  });
});
