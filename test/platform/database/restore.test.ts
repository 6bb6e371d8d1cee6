import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditVerify } from '../../../src/app/cli/audit.ts';
import { compose } from '../../../src/app/compose/compose.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { startService, type ServiceProcess } from '../../crash/service-process.ts';
import { PASSWORD } from '../../dsl/app.ts';
import { foldedTables } from '../../dsl/folded-tables.ts';
import { licenseKey, licensePublicKeyPem } from '../../dsl/licenses.ts';
import { startPasswordServer, USER_PASSWORD } from '../../dsl/password-server.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { startSystemPostgres, type SystemPostgres } from '../../dsl/system-postgres.ts';
import { findSystemPostgres } from '../../dsl/system-program.ts';

const EMAIL = 'first@acme.example';
const EMPLOYEES = 5;
type Env = Record<string, string>;

const newKeys = (): Env => ({
  LICENSE_PUBLIC_KEY: licensePublicKeyPem,
  MASTER_KEY: randomBytes(32).toString('hex'),
  AUDIT_HMAC_KEY: randomBytes(32).toString('hex'),
});

const call = async (service: ServiceProcess, method: string, path: string, body?: object, token?: string) => {
  const answer = await fetch(service.url + path, {
    method,
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

/** A tenant with employees, as a backup would contain it. */
async function inhabit(service: ServiceProcess): Promise<string> {
  const setup = await call(service, 'POST', '/api/v1/setup/complete', {
    email: EMAIL,
    password: PASSWORD,
    displayName: 'First',
    licenseKey: licenseKey(),
    externalBaseUrl: 'https://acme.example',
  });
  expect(setup.status).toBe(201);
  const { tenantId, accessToken } = setup.body as { tenantId: string; accessToken: string };
  for (let n = 0; n < EMPLOYEES; n += 1)
    expect(
      (
        await call(
          service,
          'POST',
          '/api/v1/admin/users',
          { email: `e${n}@acme.example`, displayName: 'E' },
          accessToken,
        )
      ).status,
    ).toBe(201);
  return tenantId;
}

/** Sign-in with the password from before the backup, the existing data, and a new write. */
async function expectInhabited(service: ServiceProcess, tenantId: string, employees = EMPLOYEES): Promise<void> {
  const login = await call(service, 'POST', '/api/v1/auth/login', { email: EMAIL, password: PASSWORD, tenantId });
  expect(login.status).toBe(200);
  const token = login.body['accessToken'] as string;
  expect((await call(service, 'GET', '/api/v1/admin/users', undefined, token)).body['users']).toHaveLength(employees);
  expect((await call(service, 'GET', '/api/v1/admin/audit-log/verify', undefined, token)).body).toMatchObject({
    valid: true,
    reason: null,
  });
  expect(
    (await call(service, 'POST', '/api/v1/admin/users', { email: 'later@acme.example', displayName: 'Later' }, token))
      .status,
  ).toBe(201);
  // Less only while a dependency responds late.
  await expect
    .poll(async () => (await call(service, 'GET', '/health')).body, { timeout: 10_000 })
    .toMatchObject({ status: 'healthy' });
}

const castellan = (dataDir: string, env: Env, ...args: string[]) =>
  spawnSync(process.execPath, ['scripts/run.mjs', 'src/cli.ts', ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production', DATA_DIR: dataDir, ...env },
  });

/** What the commands that end a restore in the operations guide do, in this process. */
async function expectSound(dataDir: string, env: Env): Promise<void> {
  const application = await compose(readConfig({ ...env, DATA_DIR: dataDir, NODE_ENV: 'production' }), {
    listen: false,
    onlyLooks: true,
    log: newLogger('silent'),
  });
  try {
    const { services } = application;
    const lines: string[] = [];
    await auditVerify(services, {}, (line) => lines.push(line));
    expect(lines.filter((line) => !line.startsWith('valid '))).toEqual([]);
    expect(lines).not.toEqual([]);
    const { compared, differences } = await foldedTables(services);
    expect(differences).toEqual([]);
    expect(compared).toContain('audit_log');
  } finally {
    await application.stop();
  }
}

function expectFine({ status, stdout, stderr }: ReturnType<typeof castellan>): string {
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

describe.skipIf(!findSystemPostgres())(
  `a dump restored into an empty cluster${findSystemPostgres() ? '' : ' (skipped: postgresql of Debian is not installed)'}`,
  () => {
    const folders: string[] = [];
    const clusters: SystemPostgres[] = [];
    afterAll(async () => {
      await Promise.all(clusters.map((cluster) => cluster.stop()));
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
    const cluster = async () => {
      const server = await startSystemPostgres();
      clusters.push(server);
      await server.admin('postgres', `create role castellan_owner login createrole password '${USER_PASSWORD}'`);
      await server.admin('postgres', 'create database castellan owner castellan_owner');
      return server;
    };
    const dataDir = () => {
      const folder = scratchFolder('restore');
      folders.push(folder);
      return folder;
    };

    /** One installation that all tests restore: its data directory as it was at the time of the dump. */
    let source: { cluster: SystemPostgres; env: Env; dataDir: string; tenantId: string };
    beforeAll(async () => {
      const from = await cluster();
      const env = { ...newKeys(), DATABASE_URL: from.url('castellan_owner', 'castellan') };
      const kept = dataDir();
      const service = await startService(kept, env);
      source = { cluster: from, env, dataDir: kept, tenantId: await inhabit(service) };
      await service.stop();
    }, 120_000);
    const copyOfDataDir = () => {
      const copy = dataDir();
      spawnSync('cp', ['-a', `${source.dataDir}/.`, `${copy}/`]);
      return copy;
    };

    it.each([
      ['after the roles were made, as documented', true, []],
      ['by an administrator, without privileges', true, ['--no-privileges']],
      ['before there were roles', false, []],
      ['without owners and privileges', false, ['--no-owner', '--no-privileges']],
    ])('%s: starts, verifies, compares and signs in', { timeout: 120_000 }, async (_, rolesFirst, options) => {
      const { cluster: from, tenantId } = source;
      const [to, kept] = [await cluster(), copyOfDataDir()];
      const there = { ...source.env, DATABASE_URL: to.url('castellan_owner', 'castellan') };
      if (rolesFirst) {
        to.restore('castellan', expectFine(castellan(kept, there, 'database', 'roles')));
      }
      const dump = from.dump('castellan', ...options);
      // The documented way succeeds without an error; without roles it reports what failed, and continues.
      to.restore('castellan', rolesFirst ? dump : `set role castellan_owner;\n${dump}`, {
        onError: rolesFirst ? 'stop' : 'go-on',
      });

      const restored = await startService(kept, there);
      await expectInhabited(restored, tenantId);
      await restored.stop();
      await expectSound(kept, there);
      if (rolesFirst && options.length === 0) {
        expect(expectFine(castellan(kept, there, 'audit', 'verify'))).not.toContain('BROKEN');
        expect(expectFine(castellan(kept, there, 'projections', 'diff'))).toContain('same    audit_log');
      }
      expect(await to.admin('castellan', STANDING)).toEqual(await from.admin('castellan', STANDING));
    });

    it('by another user, from before roles: is refused with a message', { timeout: 120_000 }, async () => {
      const to = await cluster();
      to.restore('castellan', source.cluster.dump('castellan'), { onError: 'go-on' });
      const there = { ...source.env, DATABASE_URL: to.url('castellan_owner', 'castellan') };
      const refused = castellan(copyOfDataDir(), there, 'audit', 'verify');
      expect([refused.status, refused.stderr.trim().split('\n')]).toEqual([
        2,
        [expect.stringMatching(/^castellan: this database was restored before its roles existed/)],
      ]);
    });
  },
);

/** Policies and privileges, in a form that does not depend on the cluster. */
const STANDING = `
  select tablename || ' ' || policyname || ' ' || roles::text || ' ' || coalesce(qual, '') as it from pg_policies where schemaname = 'public'
  union all
  select c.relname || ' ' || a.privilege_type || ' ' || g.rolname from pg_class c, aclexplode(c.relacl) a join pg_roles g on g.oid = a.grantee
   where c.relnamespace = 'public'::regnamespace and g.rolname in ('castellan_store', 'castellan_service', 'castellan_reads')
  union all
  select p.proname || ' by public ' || has_function_privilege('public', p.oid, 'execute') from pg_proc p
   where p.pronamespace = 'public'::regnamespace and p.prosecdef
  order by 1`;

describe('a copied data directory', () => {
  const [original, copy] = [scratchFolder('copied'), scratchFolder('copy')];
  afterAll(() => [original, copy].forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  it('starts, verifies, compares and signs in', { timeout: 120_000 }, async () => {
    const env = { LICENSE_PUBLIC_KEY: licensePublicKeyPem };
    const service = await startService(original, env);
    const tenantId = await inhabit(service);
    await service.stop();
    // With owners and modes: PostgreSQL refuses a cluster that other users may read.
    spawnSync('cp', ['-a', `${original}/.`, `${copy}/`]);
    rmSync(original, { recursive: true, force: true });
    const restored = await startService(copy, env);
    await expectInhabited(restored, tenantId);
    await restored.stop();
    await expectSound(copy, env);
  });
});

describe('an installation of a previous version', () => {
  const FIXTURE = new URL('../../fixtures/upgrade/', import.meta.url);
  const dataDir = scratchFolder('upgrade');
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it(
    'is upgraded by its first start: verifies, compares, and signs in with the earlier password',
    { timeout: 120_000 },
    async () => {
      const kept = JSON.parse(readFileSync(new URL('installation.json', FIXTURE), 'utf8')) as {
        tenantId: string;
        employees: number;
        masterKey: string;
        auditKey: string;
        licensePublicKey: string;
      };
      cpSync(new URL('audit-heads.jsonl', FIXTURE), join(dataDir, 'audit-heads.jsonl'));
      const server = await startPasswordServer();
      try {
        // That version's roles could not log in, and its user was a member of them.
        await server.admin(
          'postgres',
          ['store', 'service', 'projector', 'reads'].map((role) => `create role castellan_${role} nologin`).join(';'),
        );
        await server.admin(
          'postgres',
          `create role old_owner login createrole in role castellan_store, castellan_service, castellan_projector, castellan_reads password '${USER_PASSWORD}'`,
        );
        for (const role of ['store', 'service', 'projector', 'reads'])
          await server.admin('postgres', `grant castellan_${role} to old_owner with admin option`);
        await server.admin('postgres', 'create database upgraded owner old_owner');
        const dump = gunzipSync(readFileSync(new URL('database.sql.gz', FIXTURE))).toString();
        // Commands of psql are unknown to the server.
        await server.admin('upgraded', dump.replaceAll(/^\\.*$/gm, ''));

        const env = {
          DATABASE_URL: server.url('old_owner', 'upgraded'),
          MASTER_KEY: kept.masterKey,
          AUDIT_HMAC_KEY: kept.auditKey,
          LICENSE_PUBLIC_KEY: kept.licensePublicKey,
        };
        const refused = castellan(
          dataDir,
          { ...env, AUDIT_HMAC_KEY: randomBytes(32).toString('hex') },
          'audit',
          'verify',
        );
        expect([refused.status, refused.stderr]).toEqual([
          2,
          expect.stringMatching(/^castellan: AUDIT_HMAC_KEY is not the key/),
        ]);
        const service = await startService(dataDir, env);
        await expectInhabited(service, kept.tenantId, kept.employees);
        await service.stop();
        await expectSound(dataDir, env);
        expect(existsSync(join(dataDir, 'audit-heads.jsonl'))).toBe(true);
        const client = new pg.Client({ connectionString: env.DATABASE_URL });
        await client.connect();
        expect((await client.query('select count(*)::int as n from audit_key')).rows).toEqual([{ n: 1 }]);
        // Its log is identified from now on, and its tables carry the same identity.
        const identified = await client.query(
          `select i.in_log, e.data ->> 'installationId' = i.id::text as fits from installation i, events e where e.type = 'InstallationIdentified'`,
        );
        expect(identified.rows).toEqual([{ in_log: true, fits: true }]);
        expect(castellan(dataDir, env, 'restore', 'status')).toMatchObject({
          status: 0,
          stdout: expect.stringContaining('log, tables and keys belong together'),
        });
        await client.end();
      } finally {
        await server.stop();
      }
    },
  );
});
