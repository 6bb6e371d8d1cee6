import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { rewrapKeys } from '../../../src/app/cli/master-key.ts';
import { createTenant } from '../../../src/app/cli/tenants.ts';
import { compose, type Application } from '../../../src/app/compose/compose.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { asTenantId, INSTALLATION } from '../../../src/platform/kernel/ids.ts';
import { keyFingerprints } from '../../../src/contexts/installation/key-fingerprints.ts';
import { Keyring } from '../../../src/platform/vault/keyring.ts';
import { WrongMasterKey } from '../../../src/platform/vault/keyrings.ts';
import { masterKeyUses, NewerMasterKey } from '../../../src/platform/vault/rewrap.ts';
import { PASSWORD, proofFor, startApp, testConfig, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import { freshDatabase } from '../../dsl/database.ts';
import { licenseKey } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const [FIRST, SECOND, THIRD] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const AUDIT_KEY = randomBytes(32);
const nameOf = (masterKey: Buffer) => new Keyring(masterKey).fingerprint;

describe('replacing a master key', () => {
  const dataDir = scratchFolder('master-key');
  const houses: Application[] = [];
  let app: TestApp;
  let acme: TestTenant;
  beforeEach(async () => {
    app = await startApp({ masterKey: FIRST });
    acme = await app.newTenant();
  });
  afterEach(async () => {
    await Promise.all(houses.splice(0).map((application) => application.stop()));
    await app.close();
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  /** Another process on the same database. */
  async function node(masterKey: Buffer, otherMasterKey?: Buffer, project = false): Promise<Application> {
    const config = testConfig(dataDir, { masterKey, otherMasterKey, auditKey: app.config.auditKey });
    const application = await compose(config, {
      database: app.services.database.config,
      project,
      log: newLogger('silent'),
      passwords: cheapPasswords(),
    });
    houses.push(application);
    return application;
  }
  const login = (application: Application, password = PASSWORD) =>
    fetch(`${application.addresses.http}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': acme.tenantId },
      body: JSON.stringify({ email: acme.email, password }),
    }).then(async (answer) => ({
      status: answer.status,
      token: ((await answer.json()) as { accessToken?: string }).accessToken ?? '',
    }));
  const me = (application: Application, token: string) =>
    fetch(`${application.addresses.http}/api/v1/admin/me`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
    );
  const uses = async () => (await masterKeyUses(app.services.database.owner)).filter(({ isRetired }) => !isRetired);
  const newTenantAt = (application: Application) =>
    createTenant(application.services, {
      name: 'New',
      email: `${randomUUID()}@new.example`,
      licenseKey: licenseKey(),
      baseUrl: 'https://new.example',
    });

  it('lets every node open what the others sealed, and accept their tokens, while both keys are configured', async () => {
    const [middle, next] = [await node(FIRST, SECOND), await node(SECOND, FIRST)];
    const made = await newTenantAt(next);
    for (const application of [app.application, middle, next]) expect((await login(application)).status).toBe(200);
    const { token } = await login(next);
    expect([await me(middle, token), await me(next, acme.token), await me(app.application, token)]).toEqual([
      200, 200, 401,
    ]);
    // A node with only the first key cannot open what the second one sealed: it reports this instead of creating
    // another key.
    await expect(app.services.vault.put(made.tenantId, { owner: 'x', field: 'y' }, 'secret')).rejects.toThrow(
      WrongMasterKey,
    );
    const reference = await middle.services.vault.put(made.tenantId, { owner: 'x', field: 'y' }, 'secret');
    expect((await next.services.vault.get(made.tenantId, { owner: 'x', field: 'y' }, reference))?.toString()).toBe(
      'secret',
    );
  });

  it('makes the new key open everything, and the old one nothing, after the keys were rewrapped', async () => {
    await rewrapKeys(await node(SECOND, FIRST));
    const [use, ...others] = await uses();
    expect([use?.fingerprint, use?.keptKeys, others]).toEqual([nameOf(SECOND), 5, []]);
    expect(use?.tenantKeys).toBeGreaterThan(0);

    const alone = await node(SECOND);
    const { status, token } = await login(alone);
    expect([status, await me(alone, token), await me(alone, acme.token)]).toEqual([200, 200, 401]);
    expect((await login(alone, 'Wrong-Horse-7!')).status).toBe(401);
    // Digests are unchanged: the same address is the same account, and the same claim.
    const again = await fetch(`${alone.addresses.http}/api/v1/admin/admin-users`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...(await proofFor(alone.services, token)),
      },
      body: JSON.stringify({ email: acme.email, displayName: 'Twice', roleType: 'viewer', password: PASSWORD }),
    });
    expect(again.status).toBe(409);
    expect(alone.services.credentialSalt(acme.tenantId)).toBe(app.services.credentialSalt(acme.tenantId));

    await expect(node(FIRST)).rejects.toThrow(/retired/);
    await expect(node(FIRST, SECOND)).rejects.toThrow(/retired/);
    await expect(node(THIRD)).rejects.toThrow(WrongMasterKey);
  });

  it('makes a retired key useless even if configured: tokens that it signed are rejected', async () => {
    await rewrapKeys(await node(SECOND, FIRST));
    const later = await node(SECOND, FIRST);
    expect(await me(later, acme.token)).toBe(401);
    expect(later.services.bundleSigner.publicKeys).toHaveLength(1);
  });

  it('prevents a process with a retired key from creating keys that no other process can open', async () => {
    const before = await uses();
    await rewrapKeys(await node(SECOND, FIRST));
    // It continues with its cached keys.
    expect((await login(app.application)).status).toBe(200);
    await expect(newTenantAt(app.application)).rejects.toThrow(WrongMasterKey);
    const after = await uses();
    expect(after.map(({ tenantKeys }) => tenantKeys)).toEqual([
      before.reduce((sum, { tenantKeys }) => sum + tenantKeys, 0),
    ]);
  });

  it('is audited once, by fingerprints, however often it is repeated', async () => {
    const next = await node(SECOND, FIRST);
    const first = await rewrapKeys(next);
    expect([first.fingerprint, first.retired]).toEqual([nameOf(SECOND), [nameOf(FIRST)]]);
    expect(await rewrapKeys(next)).toMatchObject({ tenantKeys: 0, keptKeys: 0, retired: [nameOf(FIRST)] });
    await app.settled();
    const recorded = await app.services
      .reads(INSTALLATION)
      .rows<{ action: string; resource_id: string }>(
        `select action, resource_id from audit_log where tenant_id = $1 and action = 'master_key.replaced'`,
      );
    expect(recorded).toEqual([{ action: 'master_key.replaced', resource_id: nameOf(SECOND) }]);
  });

  it('changes nothing if some key opens with neither, or if a newer one is in use', async () => {
    const [middle, next] = [await node(FIRST, SECOND), await node(SECOND, FIRST)];
    const first = await uses();
    await expect(rewrapKeys(middle)).rejects.toThrow(NewerMasterKey);
    expect(await uses()).toEqual(first);
    await app.services.database.owner.query(`insert into tenant_keys (tenant_id, wrapped) values ($1, $2)`, [
      randomUUID(),
      randomBytes(60),
    ]);
    const before = await uses();
    await expect(rewrapKeys(next)).rejects.toThrow(WrongMasterKey);
    expect(await uses()).toEqual(before);
    expect((await login(app.application)).status).toBe(200);
  });
});

describe('a process without a master key that others have', () => {
  let app: TestApp;
  let application: Application | undefined;
  const dataDir = scratchFolder('lacking-master-key');
  beforeAll(async () => {
    app = await startApp({ masterKey: FIRST });
  });
  afterAll(async () => {
    await application?.stop();
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('reports this, and leaves the read models to the other processes', async () => {
    const config = testConfig(dataDir, { masterKey: SECOND, otherMasterKey: FIRST, auditKey: app.config.auditKey });
    application = await compose(config, {
      database: app.services.database.config,
      project: true,
      log: newLogger('silent'),
      passwords: cheapPasswords(),
    });
    // Until now the other one leads: its leases are held.
    const { tenantId } = await createTenant(application.services, {
      name: 'New',
      email: 'new@new.example',
      licenseKey: licenseKey(),
      baseUrl: 'https://new.example',
    });
    await vi.waitFor(
      async () =>
        expect(
          await application!.services.reads(tenantId).rows('select from tenants where tenant_id = $1'),
        ).toHaveLength(1),
      20_000,
    );
    await expect
      .poll(async () => (await app.anonymous.get('/health')).body.dependencies.master_key.status, { timeout: 20_000 })
      .toBe('unhealthy');
    // A slow dependency, or a read model that was just handed over, degrades for as long as that lasts.
    await vi.waitFor(
      async () =>
        expect(await (await fetch(`${application!.addresses.http}/health`)).json()).toMatchObject({
          status: 'healthy',
        }),
      30_000,
    );
  }, 90_000);
});

describe('a database of a version without master key fingerprints', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  const dataDir = scratchFolder('unnamed-master-key');
  beforeAll(async () => {
    fresh = await freshDatabase();
  });
  afterAll(async () => {
    await fresh.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = (masterKey: Buffer, otherMasterKey?: Buffer) =>
    compose(testConfig(dataDir, { masterKey, otherMasterKey, auditKey: AUDIT_KEY }), {
      database: fresh.config,
      listen: false,
      log: newLogger('silent'),
      passwords: cheapPasswords(),
    });

  const tenantId = asTenantId(randomUUID());
  const place = { owner: 'x', field: 'y' };

  /**
   * The state after that version: keys derived from its master key, and no record about them except in the log of an
   * installation that was identified later.
   */
  async function ofBefore(masterKey: Buffer): Promise<{ reference: string; salt: string }> {
    const first = await start(masterKey);
    const reference = await first.services.vault.put(tenantId, place, 'secret');
    await first.services.database.owner.query('alter table tenant_keys alter column wrapped_by drop not null');
    await first.services.database.owner.query(
      'update tenant_keys set wrapped_by = null; delete from kept_keys; delete from master_keys; delete from retired_master_keys',
    );
    await first.services.database.owner.query('delete from installation');
    const keys = keyFingerprints({ current: new Keyring(masterKey), other: undefined }, AUDIT_KEY);
    await first.services.database.owner.query(
      `update events set data = jsonb_set(data::jsonb, '{keys}', $1)::json where type = 'InstallationIdentified'`,
      [JSON.stringify(keys)],
    );
    await first.stop();
    return { reference, salt: new Keyring(masterKey).digester('credential-salt')(tenantId) };
  }
  const tables = async () => {
    const application = await start(FIRST);
    const { owner } = application.services.database;
    const { rows } = await owner.query(
      'select (select count(*)::int from master_keys) as masters, (select count(*)::int from kept_keys) as kept',
    );
    await application.stop();
    return rows[0] as { masters: number; kept: number };
  };

  it('starts with the master key of its tenants, and with no other, which leaves no trace', async () => {
    const { reference, salt } = await ofBefore(FIRST);
    await expect(start(SECOND)).rejects.toThrow(WrongMasterKey);
    const application = await start(FIRST);
    expect(application.services.credentialSalt(tenantId)).toBe(salt);
    expect((await application.services.vault.get(tenantId, place, reference))?.toString()).toBe('secret');
    await application.stop();
    expect(await tables()).toEqual({ masters: 1, kept: 5 });
    await expect(start(SECOND)).rejects.toThrow(WrongMasterKey);
    expect(await tables()).toEqual({ masters: 1, kept: 5 });
  });

  it('allows a replacement before the first fingerprint: derived keys stay the same, and the old key is retired all the same', async () => {
    await fresh.drop();
    fresh = await freshDatabase();
    const { reference, salt } = await ofBefore(FIRST);
    const next = await start(SECOND, FIRST);
    expect(next.services.credentialSalt(tenantId)).toBe(salt);
    expect((await next.services.vault.get(tenantId, place, reference))?.toString()).toBe('secret');
    expect((await rewrapKeys(next)).retired).toEqual([nameOf(FIRST)]);
    // That version would wrap with a retired key; now it cannot.
    const wrapping = next.services.database.owner.query(
      'insert into tenant_keys (tenant_id, wrapped) values ($1, $2) on conflict do nothing',
      [tenantId, randomBytes(60)],
    );
    await expect(wrapping).rejects.toMatchObject({ code: '23502' });
    await next.stop();
    await expect(start(FIRST, SECOND)).rejects.toThrow(/retired/);
  });
});

describe('a new installation', () => {
  it('has digests and salts that cannot be computed from its master key', async () => {
    const app = await startApp({ masterKey: FIRST });
    const { tenantId } = await app.newTenant();
    expect(app.services.credentialSalt(tenantId)).not.toBe(new Keyring(FIRST).digester('credential-salt')(tenantId));
    await app.close();
  });
});
