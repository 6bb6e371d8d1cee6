import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/app/config/config.ts';
import { secretSettings, settingNames } from '../../src/app/config/environment.ts';
import { tracingSettings } from '../../src/app/config/tracing-settings.ts';
import { asEnvironmentFile, newKeys } from '../../src/app/config/new-keys.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

interface Service {
  readonly image: string;
  readonly environment: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly healthcheck?: unknown;
  readonly command?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly environment: string }>>;
}

const text = read('docker-compose.yml');
const compose = parse(text, { merge: true }) as Compose;
const {
  castellan,
  postgres,
  redis,
  eventstore,
  'eventstore-user': user,
} = compose.services as Record<string, Service> & {
  readonly [name in 'castellan' | 'postgres' | 'redis' | 'eventstore' | 'eventstore-user']: Service;
};

/** As Docker Compose reads `.env`: without comments, and `\n` in double quotes is the end of a line. */
const environmentOf = (file: string): Record<string, string> =>
  Object.fromEntries(
    [...file.matchAll(/^([A-Z0-9_]+)=(?:"(.*)"|(.*))$/gm)].map(([, name, quoted, plain]) => [
      name!,
      quoted?.replaceAll('\\n', '\n') ?? plain!,
    ]),
  );

const made = environmentOf(asEnvironmentFile(newKeys(Date.now())));
const VARIABLE = /\$\{([A-Z0-9_]+)(?::([-?])([^}]*))?\}/g;
const variables = [...text.matchAll(VARIABLE)].map(([, name, kind]) => ({ name: name!, isRequired: kind === '?' }));

/** What Docker Compose passes to a service: variables replaced, and `$$` for one dollar sign. */
const passed = (service: Service, env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(service.environment).map(([name, value]) => [
      name,
      String(value).replaceAll(VARIABLE, (_, variable: string) => env[variable] ?? ''),
    ]),
  );

describe('docker-compose.yml', () => {
  it('passes every setting of the service, and nothing else', () => {
    expect(Object.keys(castellan.environment).toSorted()).toEqual([...settingNames, ...tracingSettings].toSorted());
  });

  it('requires exactly variables that `castellan keys make` creates', () => {
    const required = new Set(variables.filter(({ isRequired }) => isRequired).map(({ name }) => name));
    expect([...required].filter((name) => made[name] === undefined)).toEqual([]);
    const used = new Set([
      ...variables.map(({ name }) => name),
      ...Object.values(compose.secrets).map((one) => one.environment),
    ]);
    expect(Object.keys(made).filter((name) => !used.has(name))).toEqual(['LICENSE_SIGNING_KEY']);
  });

  it('is a valid configuration with these keys alone, and with no secret in a URL of the file', () => {
    const config = readConfig(passed(castellan, made));
    expect(new URL(config.databaseUrl!).password).toBe(made['POSTGRES_PASSWORD']);
    expect(new URL(config.redisUrl!).password).toBe(made['REDIS_PASSWORD']);
    expect(config.eventStoreUrl).toContain(`castellan:${made['EVENTSTORE_PASSWORD']}@eventstore:2113`);
    for (const { environment } of Object.values(compose.services))
      for (const [name, value] of Object.entries(environment))
        if (name.endsWith('_URL')) expect(String(value)).not.toMatch(/:\/\/.*\$\{.*@/);
  });

  it('keeps the license signing key from every container', () => {
    expect(text).not.toContain('LICENSE_SIGNING_KEY');
  });

  it('publishes ports on this machine alone, and only of the service', () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    );
    expect(published).toEqual([
      ['castellan', '127.0.0.1:8080:8080'],
      ['castellan', '127.0.0.1:8443:8443'],
    ]);
  });

  it('leaves no part without authentication', () => {
    expect(postgres.environment['POSTGRES_PASSWORD']).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
    expect(postgres.environment).not.toHaveProperty('POSTGRES_HOST_AUTH_METHOD');
    expect(redis.command!.join(' ')).toContain('requirepass "$$REDISCLI_AUTH"');
    expect(redis.environment['REDISCLI_AUTH']).toMatch(/^\$\{REDIS_PASSWORD:\?/);
    expect(Object.keys(eventstore.environment).filter((name) => /INSECURE|ALLOW_ANONYMOUS/i.test(name))).toEqual([]);
    for (const name of ['ADMIN', 'OPS'])
      expect(eventstore.environment[`KURRENTDB_DEFAULT_${name}_PASSWORD`]).toMatch(/^\$\{EVENTSTORE_.*:\?/);
    expect(castellan.environment['EVENTSTORE_URL']).not.toContain('tls=false');
  });

  it('gives the event store the certificates that it names', () => {
    const files = eventstore.secrets!.map(({ target }) => target);
    const { environment } = eventstore;
    expect(files).toContain(environment['KURRENTDB_CERTIFICATE_FILE']);
    expect(files).toContain(environment['KURRENTDB_CERTIFICATE_PRIVATE_KEY_FILE']);
    expect(files).toContain(`${environment['KURRENTDB_TRUSTED_ROOT_CERTIFICATES_PATH']}/ca.crt`);
    for (const { source } of eventstore.secrets!)
      expect(made[compose.secrets[source]!.environment]).toContain('-----BEGIN');
  });

  it('prepares the event store with the settings of the service', () => {
    for (const name of ['EVENTSTORE_URL', 'EVENTSTORE_PASSWORD', 'EVENTSTORE_CA'])
      expect(user.environment[name]).toBe(castellan.environment[name]);
    expect(castellan.depends_on!['eventstore-user']).toEqual({ condition: 'service_completed_successfully' });
  });

  it('runs the service with a read-only file system; what it keeps is in a volume', () => {
    for (const service of [castellan, user]) expect(service.read_only).toBe(true);
    expect(castellan.volumes).toEqual([`castellan-data:${castellan.environment['DATA_DIR']}`]);
    for (const { healthcheck, image } of [postgres, redis, eventstore])
      expect([image, healthcheck]).not.toContain(undefined);
  });
});

describe('.env.example', () => {
  const example = read('.env.example');
  const listed = [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name!);

  it('lists what docker-compose.yml reads, each once', () => {
    const wanted = new Set([
      ...variables.map(({ name }) => name),
      ...Object.values(compose.secrets).map((one) => one.environment),
    ]);
    expect(listed.toSorted()).toEqual([...wanted, 'LICENSE_SIGNING_KEY'].toSorted());
  });

  it('holds no secret, and only the keys are not commented out', () => {
    const set = environmentOf(example);
    expect(Object.values(set).filter(Boolean)).toEqual([]);
    expect(Object.keys(set).toSorted()).toEqual(Object.keys(made).toSorted());
    expect(secretSettings).toContain('MASTER_KEY');
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('uses a version of Node that is supported and that the service runs on', () => {
    const [, major] = /^FROM node:(\d+)-/m.exec(dockerfile)!;
    expect(Number(major)).toBeGreaterThanOrEqual(22);
    expect(Number(major) % 2).toBe(0);
  });

  it('bundles every entry point, those of worker threads included', () => {
    const [, entries] = /^RUN node scripts\/run\.mjs --bundle (.*)$/m.exec(dockerfile)!;
    const threads = [...read('src/contexts/audit/segment-verification-threads.ts').matchAll(/new URL\('(.*?)'/g)];
    for (const entry of ['src/main.ts', 'src/cli.ts', ...threads.map(([, file]) => `src/contexts/audit/${file}`)])
      expect(entries!.split(' ')).toContain(entry);
  });
});
