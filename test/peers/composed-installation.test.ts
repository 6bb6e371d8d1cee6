import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../dsl/free-port.ts';
import { startService } from '../crash/service-process.ts';
import { findRedis } from '../dsl/redis.ts';
import { startSystemPostgres } from '../dsl/system-postgres.ts';
import { findSystemPostgres } from '../dsl/system-program.ts';
import { startStandIn } from '../fixtures/eventstoredb/stand-in.ts';

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      { readonly environment: Readonly<Record<string, string | number>>; readonly command?: readonly string[] }
    >
  >;
}

const { services } = parse(readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8'), {
  merge: true,
}) as Compose;
const isPossible = findSystemPostgres() !== undefined && findRedis();

/** Runs `castellan`. Returns exit code and standard output. */
async function castellan(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<[number, string]> {
  const child = spawn('bin/castellan', [...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stdout)]);
  return [code as number, output];
}

/**
 * The steps of docs/guides/deploy-with-compose.md without a container engine: real PostgreSQL and Redis, the stand-in
 * of the event store, and the values that Compose would pass.
 */
describe.skipIf(!isPossible)(
  `an installation of docker-compose.yml${isPossible ? '' : ' (skipped: postgresql and redis-server of Debian are not installed)'}`,
  () => {
    const folder = mkdtempSync('/tmp/castellan-composed-');
    const ends: (() => Promise<unknown>)[] = [];
    afterAll(async () => {
      for (const end of ends.toReversed()) await end();
      rmSync(folder, { recursive: true, force: true });
    });

    it('starts with the keys of `castellan keys make`, every part authenticated, and gets a license', async () => {
      const [, file] = await castellan(['keys', 'make']);
      writeFileSync(join(folder, '.env'), file, { mode: 0o600 });
      const made = Object.fromEntries(
        [...file.matchAll(/^([A-Z0-9_]+)=(?:"(.*)"|(.*))$/gm)].map(([, name, quoted, plain]) => [
          name!,
          quoted?.replaceAll('\\n', '\n') ?? plain!,
        ]),
      );
      const passed = (service: string, places: Readonly<Record<string, string>>) =>
        Object.fromEntries(
          Object.entries(services[service]!.environment).map(([name, value]) => [
            name,
            Object.entries(places).reduce(
              (all, [from, to]) => all.replace(from, to),
              String(value).replaceAll(/\$\{([A-Z0-9_]+)[^}]*\}/g, (_, variable: string) => made[variable] ?? ''),
            ),
          ]),
        );

      const postgres = await startSystemPostgres();
      ends.push(() => postgres.stop());
      await postgres.admin('postgres', `create role castellan superuser login password '${made['POSTGRES_PASSWORD']}'`);
      await postgres.admin('postgres', 'create database castellan owner castellan');

      const redisPort = await freePort();
      const [shell, option, script] = services['redis']!.command!;
      const redis = spawn(
        shell!,
        [
          option!,
          script!
            .replaceAll('$$', '$')
            .replace('redis-server -', `redis-server - --port ${redisPort} --bind 127.0.0.1 --dir ${folder}`),
        ],
        { env: { PATH: process.env['PATH'], ...passed('redis', {}) }, stdio: 'ignore' },
      );
      ends.push(async () => (redis.kill('SIGTERM'), once(redis, 'exit')));
      const anonymous = new Redis(redisPort, '127.0.0.1', { retryStrategy: () => 50 });
      anonymous.on('error', () => undefined);
      await expect
        .poll(() => anonymous.ping().catch((error: Error) => error.message), { timeout: 20_000 })
        .toMatch(/^NOAUTH/);
      anonymous.disconnect();

      const node = await startStandIn({
        tls: { certificatePem: made['EVENTSTORE_NODE_CERTIFICATE']!, privateKeyPem: made['EVENTSTORE_NODE_KEY']! },
        users: { admin: { password: made['EVENTSTORE_ADMIN_PASSWORD']!, isAdmin: true } },
      });
      ends.push(() => node.stop());
      const places = {
        'postgres:5432': `127.0.0.1:${postgres.port}`,
        'redis:6379': `127.0.0.1:${redisPort}`,
        'eventstore:2113': `localhost:${node.port}`,
      };
      // As often as Compose starts it.
      for (const word of ['created', 'there is'])
        expect(
          await castellan(services['eventstore-user']!.command!.slice(1), passed('eventstore-user', places)),
        ).toEqual([
          0,
          expect.stringMatching(new RegExp(`^${word}.*\\ncastellan has every right that the service needs\\n$`)),
        ]);

      const env = {
        ...passed('castellan', places),
        HOST: '127.0.0.1',
        DATA_DIR: join(folder, 'data'),
        PORT: String(await freePort()),
        TLS_PORT: '0',
      };
      expect(await castellan(['doctor', '--json'], env)).toEqual([
        expect.any(Number),
        expect.not.stringContaining(made['POSTGRES_PASSWORD']!),
      ]);
      const service = await startService(env.DATA_DIR, env);
      ends.push(() => service.stop());
      const asked = 'license issue --client Acme --tier trial --max-users 5 --days 5 --signing-key';
      const [, license] = await castellan([...asked.split(' '), join(folder, '.env')]);
      const response = await fetch(`${service.url}/api/v1/setup/complete`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          email: 'owner@acme.example',
          password: 'Correct-Horse-7!',
          displayName: 'Owner',
          licenseKey: license.trim().split('\n').at(-1),
          externalBaseUrl: 'https://castellan.example',
        }),
      });
      expect(response.status).toBe(201);
      expect(await (await fetch(`${service.url}/health`)).json()).toMatchObject({
        status: 'healthy',
        dependencies: { redis: { status: 'healthy' }, eventstore: { status: 'healthy' } },
      });
    }, 240_000);
  },
);
