import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpdateSettings } from '../../../../src/contexts/updates/domain/update-settings.ts';
import { adminRoles } from '../../../../src/contexts/identity/domain/roles.ts';
import { INSTALLATION } from '../../../../src/platform/kernel/ids.ts';
import { startApp, testConfig, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { scratchFolder } from '../../../dsl/scratch.ts';
import { updatePublisher, uploadBundle, type UpdatePublisher } from '../../../dsl/update-publisher.ts';

const BASE = '/api/v1/admin/updates';

describe('updates', () => {
  const apps: TestApp[] = [];
  let publisher: UpdatePublisher;
  let scripts: string;
  beforeAll(() => {
    publisher = updatePublisher();
    scripts = scratchFolder('update-scripts');
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  const usual = testConfig('').updates;
  async function installation(over: Partial<UpdateSettings> = {}): Promise<{ app: TestApp; tenant: TestTenant }> {
    const app = await startApp({ updates: { ...usual, publicKey: publisher.publicKey, ...over } });
    apps.push(app);
    return { app, tenant: await app.newTenant() };
  }

  const signedUpload = (
    app: TestApp,
    { token }: TestTenant,
    version: string,
    content = randomBytes(1_000),
    over = {},
  ) => uploadBundle(app, token, content, { version, signature: publisher.signature(version, content), ...over });

  const info = async (tenant: TestTenant) => (await tenant.admin.get(`${BASE}/info`)).body;
  const history = async (tenant: TestTenant) => (await tenant.admin.get(`${BASE}/history`)).body.history;

  /** Until the last update has ended. */
  async function ended(tenant: TestTenant) {
    for (;;) {
      const [last] = await history(tenant);
      if (last?.finishedAt) return last;
      await sleep(20);
    }
  }

  function script(body: string): [string] {
    const path = join(scripts, `${randomUUID()}.sh`);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return [path];
  }

  const storedObjects = (app: TestApp): string[] => {
    const folder = join(app.config.dataDir, 'objects', 'updates');
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  };

  describe('the way of a bundle', () => {
    it('stages, applies and rolls back; info and history say so', async () => {
      const { app, tenant } = await installation();
      expect(await info(tenant)).toEqual({
        currentVersion: '0.1.0',
        availableVersion: null,
        state: 'idle',
        releaseNotes: null,
        lastCheckedAt: null,
        stagedVersion: null,
        rollbackVersion: null,
        download: null,
      });
      const content = randomBytes(9 * 1024 * 1024);
      const staged = await signedUpload(app, tenant, '0.2.0', content);
      expect(staged).toEqual({
        status: 201,
        body: { version: '0.2.0', state: 'staged', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
      expect(await info(tenant)).toMatchObject({ state: 'staged', stagedVersion: '0.2.0', rollbackVersion: null });
      expect(storedObjects(app).sort()).toEqual(['000000', '000001', '000002']);

      const applied = await tenant.admin.post(`${BASE}/apply`, { version: '0.2.0' });
      expect([applied.status, applied.body]).toEqual([202, { state: 'applied' }]);
      expect(await info(tenant)).toMatchObject({ state: 'applied', stagedVersion: null, rollbackVersion: '0.1.0' });

      const back = await tenant.admin.post(`${BASE}/rollback`, {});
      expect([back.status, back.body]).toEqual([202, { state: 'rolled_back' }]);
      expect(await info(tenant)).toMatchObject({ state: 'rolled_back', rollbackVersion: null });
      const { body } = await tenant.admin.get(`${BASE}/history?page_size=1`);
      expect(body).toMatchObject({ total: 2, page: 1, pageSize: 1, totalPages: 2 });
      const [rollback, apply] = await history(tenant);
      expect(apply).toEqual({
        id: expect.any(String),
        fromVersion: '0.1.0',
        toVersion: '0.2.0',
        action: 'apply',
        status: 'applied',
        startedAt: expect.any(String),
        finishedAt: expect.any(String),
        actorId: tenant.adminId,
        exitCode: null,
        reason: null,
        output: null,
      });
      expect(rollback).toMatchObject({ fromVersion: '0.2.0', toVersion: '0.1.0', status: 'rolled_back' });
    });

    it('refuses with 409 where nothing is staged, another version is, or there is nothing to roll back', async () => {
      const { app, tenant } = await installation();
      const codeOf = async (path: string, body: object) => {
        const refused = await tenant.admin.post(`${BASE}/${path}`, body);
        return [refused.status, refused.body.code];
      };
      expect(await codeOf('apply', {})).toEqual([409, 'nothing_staged']);
      expect(await codeOf('rollback', {})).toEqual([409, 'nothing_to_roll_back']);
      await signedUpload(app, tenant, '0.2.0');
      expect(await codeOf('apply', { version: '0.3.0' })).toEqual([409, 'nothing_staged']);
      expect((await tenant.admin.post(`${BASE}/apply`)).status).toBe(202);
      expect(await codeOf('apply', {})).toEqual([409, 'nothing_staged']);
      expect((await tenant.admin.post(`${BASE}/rollback`)).status).toBe(202);
      expect(await codeOf('rollback', {})).toEqual([409, 'nothing_to_roll_back']);
    });

    it('replaces a staged bundle, and deletes the one before', async () => {
      const { app, tenant } = await installation();
      await signedUpload(app, tenant, '0.2.0');
      await signedUpload(app, tenant, '0.3.0', randomBytes(10), { late: true });
      expect(await info(tenant)).toMatchObject({ state: 'staged', stagedVersion: '0.3.0' });
      expect(storedObjects(app)).toHaveLength(1);
    });

    it('records every step in the audit chain of the installation, with the administrator', async () => {
      const { app, tenant } = await installation();
      await signedUpload(app, tenant, '0.2.0');
      await tenant.admin.post(`${BASE}/apply`);
      await app.settled();
      const rows = await app.services
        .reads(INSTALLATION)
        .rows<{ action: string; actor_id: string }>(
          "select action, actor_id from audit_log where tenant_id = $1 and action like 'software_update%' order by sequence",
        );
      expect(rows).toEqual(
        ['staged', 'begun', 'ended'].map((step) => ({ action: `software_update.${step}`, actor_id: tenant.adminId })),
      );
    });
  });

  describe('a hostile or wrong upload', () => {
    it('is refused, names the field, and leaves nothing behind', async () => {
      const { app, tenant } = await installation();
      const content = randomBytes(5_000);
      const right = { version: '0.2.0', signature: publisher.signature('0.2.0', content) };
      const versioned = (version: string) => ({ version, signature: publisher.signature(version, content) });
      const refusals: readonly (readonly [string, Parameters<typeof uploadBundle>[3], number, string])[] = [
        ['no signature', { version: '0.2.0' }, 400, 'signature'],
        ['a signature that is none', { ...right, signature: 'c2hvcnQ=' }, 400, 'signature'],
        ['a signature of another version', { ...right, version: '0.9.0' }, 400, 'signature'],
        ['a version that is none', versioned('latest'), 400, 'version'],
        ['the running version', versioned('0.1.0'), 409, 'update_not_newer'],
        ['an older version', versioned('0.0.9'), 409, 'update_not_newer'],
        ['a pre-release of the running version', versioned('0.1.0-rc.1'), 409, 'update_not_newer'],
      ];
      for (const [name, over, status, named] of refusals) {
        const refused = await uploadBundle(app, tenant.token, content, over);
        const what = refused.body.fields?.[0]?.field ?? refused.body.code;
        expect([name, refused.status, what]).toEqual([name, status, named]);
        expect([name, storedObjects(app)]).toEqual([name, []]);
      }
      expect(await info(tenant)).toMatchObject({ state: 'idle', stagedVersion: null });
    });

    it('is refused if one byte is another, or the key is', async () => {
      const { app, tenant } = await installation();
      const content = randomBytes(5_000);
      const signature = publisher.signature('0.2.0', content);
      content[2_500]! ^= 1;
      expect((await uploadBundle(app, tenant.token, content, { version: '0.2.0', signature })).status).toBe(400);
      const stranger = updatePublisher().signature('0.2.0', content);
      expect((await uploadBundle(app, tenant.token, content, { version: '0.2.0', signature: stranger })).status).toBe(
        400,
      );
      expect(storedObjects(app)).toEqual([]);
    });

    it('takes the version from the name of the file, never a path', async () => {
      const { app, tenant } = await installation();
      const content = randomBytes(100);
      const signature = publisher.signature('0.2.0', content);
      const fileName = '../../../../etc/cron.d/castellan-0.2.0.tgz';
      expect((await uploadBundle(app, tenant.token, content, { signature, fileName })).body.version).toBe('0.2.0');
      expect(storedObjects(app)).toEqual(['000000']);
      expect(existsSync('/etc/cron.d/castellan-0.2.0.tgz')).toBe(false);
    });

    it('is cut off above 200 MiB, with memory far below that, and leaves nothing behind', async () => {
      const { app, tenant } = await installation();
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 20);
      const { status } = await endless(app, tenant, 210);
      clearInterval(watch);
      expect([413, 'closed']).toContain(status);
      expect(most - before).toBeLessThan(100 * 1024 * 1024);
      await gone(app);
      expect((await signedUpload(app, tenant, '0.2.0')).status).toBe(201);
    });

    it('that breaks off leaves nothing behind', async () => {
      const { app, tenant } = await installation();
      expect((await endless(app, tenant, 9, true)).status).toBe('closed');
      await gone(app);
      expect((await signedUpload(app, tenant, '0.2.0')).status).toBe(201);
    });

    it('beside another one is refused, or takes its turn: one bundle is staged', async () => {
      const { app, tenant } = await installation();
      const uploads = await Promise.all(
        ['0.2.0', '0.3.0', '0.4.0'].map((version) => signedUpload(app, tenant, version, randomBytes(6_000_000))),
      );
      expect(uploads.some(({ status }) => status === 201)).toBe(true);
      for (const { status } of uploads) expect([201, 429, 503]).toContain(status);
      expect(storedObjects(app)).toHaveLength(2);
    });

    it('without a signature needs the operator and a re-authentication', async () => {
      const { app, tenant } = await installation({ publicKey: undefined, allowsUnsigned: true });
      const refused = await uploadBundle(app, tenant.token, randomBytes(10), { version: '0.2.0' });
      expect([refused.status, refused.body.code]).toEqual([403, 'reauthentication_required']);
      const { body } = await tenant.admin.post('/api/v1/admin/verify-password', { password: 'Correct-Horse-7!' });
      const proof = { 'x-reauth-token': (body.reAuthToken ?? body.token) as string };
      const accepted = await uploadBundle(app, tenant.token, randomBytes(10), { version: '0.2.0', headers: proof });
      expect(accepted.status).toBe(201);
      const unverifiable = await signedUpload(app, tenant, '0.3.0');
      expect([unverifiable.status, unverifiable.body.fields[0].field]).toEqual([400, 'signature']);
    });

    it('sent again takes the place of the first, also under an idempotency key, which has no effect here', async () => {
      const { app, tenant } = await installation();
      const headers = { 'idempotency-key': randomUUID() };
      const content = randomBytes(100);
      const first = await signedUpload(app, tenant, '0.2.0', content, { headers });
      expect(await signedUpload(app, tenant, '0.2.0', content, { headers })).toEqual(first);
      expect((await signedUpload(app, tenant, '0.3.0', content, { headers })).body.version).toBe('0.3.0');
      expect(storedObjects(app)).toHaveLength(1);
    });
  });

  /** Sends a file of this many megabytes piece by piece; breaks off at its end, or sends the end of the body. */
  const endless = ({ url }: TestApp, { token }: TestTenant, megabytes: number, breaksOff = false) =>
    new Promise<{ status: number | 'closed' }>((resolve) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'multipart/form-data; boundary=X',
        'transfer-encoding': 'chunked',
      };
      const outgoing = request(`${url}${BASE}/upload`, { method: 'POST', headers });
      let isOver = false;
      const over = (status: number | 'closed') => {
        isOver = true;
        resolve({ status });
      };
      outgoing.on('response', (response) => (response.resume(), over(response.statusCode!)));
      outgoing.on('error', () => over('closed'));
      outgoing.write('--X\r\ncontent-disposition: form-data; name="file"; filename="a-0.2.0.tgz"\r\n\r\n');
      const piece = Buffer.alloc(1024 * 1024, 7);
      void (async () => {
        for (let sent = 0; sent < megabytes && !isOver; sent += 1)
          await new Promise<void>((next) => outgoing.write(piece, () => next()));
        if (breaksOff) {
          await sleep(100);
          outgoing.destroy();
          over('closed');
        } else outgoing.end('\r\n--X--\r\n');
      })();
    });

  async function gone(app: TestApp) {
    for (let look = 0; look < 200 && storedObjects(app).length > 0; look += 1) await sleep(20);
    expect(storedObjects(app)).toEqual([]);
  }

  describe('the command of the operator', () => {
    it('gets action, version and the path of the same bytes, and no secret of ours; its output is kept', async () => {
      const seen = join(scripts, `seen-${randomUUID()}`);
      const command = script(
        [
          `{ echo "$@"; env; } > ${seen}`,
          `cp "$3" ${seen}.copy`,
          'echo "password=hunter2"',
          "printf 'line\\033[31m two\\n'",
          'echo "$1 done" >&2',
        ].join('\n'),
      );
      const { app, tenant } = await installation({ command });
      process.env['SECRET_OF_THE_SERVICE'] = 'must not be seen';
      const content = randomBytes(5 * 1024 * 1024);
      await signedUpload(app, tenant, '0.2.0', content);
      const { status, body } = await tenant.admin.post(`${BASE}/apply`);
      expect([status, body]).toEqual([202, { state: 'applying' }]);
      const done = await ended(tenant);
      delete process.env['SECRET_OF_THE_SERVICE'];
      expect(done).toMatchObject({ status: 'applied', exitCode: 0, reason: null, actorId: tenant.adminId });
      expect(done.output).toBe('password=[redacted]\nline[31m two\napply done');
      const told = readFileSync(seen, 'utf8');
      expect(told).toMatch(/^apply 0\.2\.0 \/\S+\.bundle\n/);
      expect(told).toContain('UPDATE_FROM_VERSION=0.1.0');
      expect(told).not.toContain('must not be seen');
      expect(told).not.toContain('DATABASE');
      expect(readFileSync(`${seen}.copy`).equals(content)).toBe(true);
      expect(readdirSync(join(app.config.dataDir, 'updates'))).toEqual([]);

      await tenant.admin.post(`${BASE}/rollback`);
      expect(await ended(tenant)).toMatchObject({ action: 'rollback', status: 'rolled_back' });
      expect(readFileSync(seen, 'utf8')).toMatch(/^rollback 0\.1\.0\n/);
    });

    it('fails with its exit code, and the bundle can be applied again', async () => {
      const flag = join(scripts, `flag-${randomUUID()}`);
      const { app, tenant } = await installation({ command: script(`test -e ${flag} || { echo no disk; exit 3; }`) });
      await signedUpload(app, tenant, '0.2.0');
      await tenant.admin.post(`${BASE}/apply`);
      expect(await ended(tenant)).toMatchObject({ status: 'failed', exitCode: 3, output: 'no disk' });
      expect(await info(tenant)).toMatchObject({ state: 'failed', stagedVersion: '0.2.0', rollbackVersion: null });
      writeFileSync(flag, '');
      expect((await tenant.admin.post(`${BASE}/apply`)).status).toBe(202);
      expect(await ended(tenant)).toMatchObject({ status: 'applied', exitCode: 0 });
    });

    it('is ended with its children at the deadline, and cannot be reached by shell characters', async () => {
      const [path] = script('sleep 60 & sleep 60');
      const { app, tenant } = await installation({ command: [path, '; touch /tmp/never $(id)'], commandMs: 300 });
      await signedUpload(app, tenant, '0.2.0');
      await tenant.admin.post(`${BASE}/apply`);
      expect(await ended(tenant)).toMatchObject({
        status: 'failed',
        exitCode: null,
        reason: 'the command did not end in time',
      });
    });

    it.each([
      ['does not exist', () => ['/nonexistent/update'] as [string], 'the command could not be started (ENOENT)'],
      ['is killed', () => script('kill -9 $$'), 'the command was ended by a signal'],
    ])('that %s is a failed update', async (_name, command, reason) => {
      const { app, tenant } = await installation({ command: command() });
      await signedUpload(app, tenant, '0.2.0');
      await tenant.admin.post(`${BASE}/apply`);
      expect(await ended(tenant)).toMatchObject({ status: 'failed', exitCode: null, reason });
    });

    it('does not run if the stored bytes were exchanged', async () => {
      const seen = join(scripts, `seen-${randomUUID()}`);
      const { app, tenant } = await installation({ command: script(`touch ${seen}`) });
      await signedUpload(app, tenant, '0.2.0');
      const folder = join(app.config.dataDir, 'objects', 'updates');
      const [bundle] = readdirSync(folder);
      writeFileSync(join(folder, bundle!, '000000'), randomBytes(1_000));
      await tenant.admin.post(`${BASE}/apply`);
      expect(await ended(tenant)).toMatchObject({
        status: 'failed',
        reason: 'the stored bundle is damaged or incomplete',
      });
      expect(existsSync(seen)).toBe(false);
    });

    it('runs alone: while it does, nothing else begins', async () => {
      const flag = join(scripts, `flag-${randomUUID()}`);
      const { app, tenant } = await installation({ command: script(`until test -e ${flag}; do sleep 0.05; done`) });
      await signedUpload(app, tenant, '0.2.0');
      const begun = await Promise.all(Array.from({ length: 5 }, () => tenant.admin.post(`${BASE}/apply`)));
      expect(begun.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
      expect((await signedUpload(app, tenant, '0.3.0')).body.code).toBe('update_under_way');
      expect((await tenant.admin.post(`${BASE}/rollback`)).body.code).toBe('update_under_way');
      expect(await info(tenant)).toMatchObject({ state: 'applying' });
      writeFileSync(flag, '');
      expect(await ended(tenant)).toMatchObject({ status: 'applied' });
      expect(await history(tenant)).toHaveLength(1);
    });
  });

  describe('who may', () => {
    it('only a super admin writes; analysts and viewers do not read', async () => {
      const { app, tenant } = await installation();
      for (const role of adminRoles) {
        const { client } = await app.adminWithRole(tenant, role);
        const statuses = [];
        for (const path of ['info', 'history', 'extension-versions'])
          statuses.push((await client.get(`${BASE}/${path}`)).status);
        for (const path of ['check', 'apply', 'rollback', 'upload'])
          statuses.push((await client.post(`${BASE}/${path}`)).status);
        const reads = role === 'super_admin' || role === 'admin' ? 200 : 403;
        const writes = role === 'super_admin' ? [200, 409, 409, 400] : [403, 403, 403, 403];
        expect([role, statuses]).toEqual([role, [reads, reads, reads, ...writes]]);
      }
    });

    it('with several tenants nobody writes, unless the operator names one; others read no names and no output', async () => {
      const { app, tenant } = await installation();
      await signedUpload(app, tenant, '0.2.0');
      await tenant.admin.post(`${BASE}/apply`);
      const other = await app.newTenant();
      for (const { admin, token } of [tenant, other]) {
        for (const path of ['check', 'apply', 'rollback'])
          expect((await admin.post(`${BASE}/${path}`)).body.code).toBe('updates_of_the_operator');
        const uploaded = await uploadBundle(app, token, randomBytes(10), { version: '0.3.0' });
        expect([uploaded.status, uploaded.body.code]).toEqual([403, 'updates_of_the_operator']);
        expect((await admin.get(`${BASE}/history`)).body.history[0]).toMatchObject({ actorId: null, output: null });
      }
    });

    it('the tenant that the operator names writes, others do not', async () => {
      const first = await installation();
      // The id is known only once the tenant exists: the same settings object, as a restart with another setting.
      const { app, tenant } = first;
      (app.services.config.updates as { tenantId: string | undefined }).tenantId = tenant.tenantId;
      const other = await app.newTenant();
      expect((await signedUpload(app, tenant, '0.2.0')).status).toBe(201);
      expect((await signedUpload(app, other, '0.3.0')).status).toBe(403);
      expect((await tenant.admin.post(`${BASE}/apply`)).status).toBe(202);
      expect((await tenant.admin.get(`${BASE}/history`)).body.history[0].actorId).toBe(tenant.adminId);
      expect((await other.admin.get(`${BASE}/history`)).body.history[0].actorId).toBeNull();
    });
  });
});
