import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attachTenantAsOperator, createOrganizationAsOperator } from '../../../src/app/cli/organization-commands.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { castellan } from '../../dsl/command-line.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

let app: TestApp;
let acme: TestTenant;
let organizationId: string;
beforeAll(async () => {
  app = await startApp();
  acme = await app.newTenant({ name: 'Acme' });
  await app.newTenant({ name: 'Apart' });
  ({ organizationId } = await createOrganizationAsOperator(app.services, {
    name: 'Guardians',
    ownerEmail: 'owner@guardians.example',
    externalBaseUrl: 'https://guardians.example',
  }));
  await attachTenantAsOperator(app.services, { slug: 'guardians', tenant: acme.tenantId });
  await app.settled();
});
afterAll(() => app.close());

const run = (...words: string[]) => castellan(words, {}, (work) => work(app.application));
const resultOf = async (...words: string[]) => {
  const { code, stdout } = await run(...words, '--json');
  return { code, ...(JSON.parse(stdout) as { outcome: string; result: Record<string, unknown>; error?: string }) };
};

describe('lists', () => {
  it('of tenants name the organization of each', async () => {
    const apart = { id: expect.any(String), slug: 'apart', name: 'Apart', organization: null };
    const attached = {
      id: acme.tenantId,
      slug: 'acme',
      name: 'Acme',
      organization: { id: organizationId, slug: 'guardians' },
    };
    expect((await resultOf('tenant', 'list')).result).toEqual({ tenants: [attached, apart] });
    const before = await run('--json', 'tenant', 'list');
    expect((JSON.parse(before.stdout) as { result: object }).result).toEqual({ tenants: [attached, apart] });
    expect((await resultOf('tenant', 'list', '--organization', 'guardians')).result).toEqual({ tenants: [attached] });
    const { stdout } = await run('tenant', 'list');
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^ID +SLUG +ORGANIZATION +NAME$/),
      expect.stringMatching(new RegExp(`^${acme.tenantId} +acme +guardians +Acme$`)),
      expect.stringMatching(/^\S+ +apart +- +Apart$/),
      '',
    ]);
  });

  it('of organizations count tenants and admins', async () => {
    expect((await resultOf('org', 'list')).result).toEqual({
      organizations: [
        {
          id: organizationId,
          slug: 'guardians',
          name: 'Guardians',
          requireSso: false,
          tenants: [acme.tenantId],
          admins: 1,
        },
      ],
    });
  });

  it('of admins show role, status and second factor, of tenants and organizations alike', async () => {
    const admin = { id: expect.any(String), displayName: expect.any(String), status: 'active', mfaEnabled: false };
    expect((await resultOf('admin', 'list', '--tenant', 'acme')).result).toEqual({
      admins: [{ ...admin, email: acme.email, role: 'super_admin' }],
    });
    expect((await resultOf('admin', 'list', '--organization', 'guardians')).result).toEqual({
      admins: [{ ...admin, email: 'owner@guardians.example', role: 'org_owner' }],
    });
  });

  it('of licenses show how many seats are used', async () => {
    const { code, result } = await resultOf('license', 'show', '--tenant', 'acme');
    expect([code, result]).toEqual([
      0,
      {
        licenses: [
          expect.objectContaining({ tenantId: acme.tenantId, slug: 'acme', currentUsers: 0, isExpired: false }),
        ],
      },
    ]);
  });
});

describe('sealed heads that are kept elsewhere', () => {
  const folder = scratchFolder('kept-heads');
  const file = join(folder, 'heads.jsonl');
  beforeAll(() => void mkdirSync(folder, { recursive: true }));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['is empty', ''],
    ['was cut within its first line', '\n{"tenantId":"0000'],
    ['is another file', 'root:x:0:0:root:/root:/bin/bash\n'],
  ])('prove nothing if the file %s: exit code 3', async (_what, content) => {
    writeFileSync(file, content);
    const { code, outcome, error } = await resultOf('audit', 'verify', '--heads', file);
    expect([code, outcome]).toEqual([3, 'unavailable']);
    expect(error).toContain(`${file} holds no sealed heads`);
  });

  const LOST = '0198a000-0000-7000-8000-00000000dead';
  const lostHead = () =>
    `${JSON.stringify({ tenantId: LOST, sequence: 3, hash: 'a'.repeat(64), position: '7', previous: '', mac: 'f'.repeat(64) })}\n`;
  const chainsOf = async (...words: string[]) => {
    const { code, result } = await resultOf('audit', 'verify', ...words);
    return [code, (result['chains'] as { id: string }[]).find(({ id }) => id === LOST)];
  };

  it('reveal a chain that the log has lost, also those in DATA_DIR alone, if all chains are verified', async () => {
    const kept = join(app.config.dataDir, 'audit-heads.jsonl');
    const before = existsSync(kept) ? readFileSync(kept, 'utf8') : '';
    writeFileSync(file, lostHead());
    const lost = (where: string) => [1, expect.objectContaining({ owner: `known only to ${where}`, valid: false })];
    expect(await chainsOf('--heads', file)).toEqual(lost('the witness'));
    expect(await chainsOf()).toEqual([0, undefined]);
    writeFileSync(kept, `${before}\n${lostHead()}`);
    expect(await chainsOf()).toEqual(lost('audit-heads.jsonl'));
    expect((await run('audit', 'verify')).stdout).toMatch(/^BROKEN {2}known only to audit-heads\.jsonl 0198a000-/m);
    expect(await chainsOf('--heads', file)).toEqual(lost('audit-heads.jsonl'));
    expect(await chainsOf('--tenant', 'acme')).toEqual([0, undefined]);
    writeFileSync(kept, before);
    writeFileSync(`${kept}.dropped`, lostHead());
    expect(await chainsOf()).toEqual([0, undefined]);
    rmSync(`${kept}.dropped`);
  });

  it.each([
    [['audit', 'verify'], '--heads'],
    [['license', 'issue', '--client', 'A', '--tier', 'trial', '--max-users', '5', '--days', '5'], '--signing-key'],
  ])('are not waited for if a named pipe has their place, and no other file is: %s %s', async (words, option) => {
    rmSync(file, { force: true });
    const stop = makeNamedPipe(file);
    expect(await resultOf(...words, option, file)).toMatchObject({
      code: 3,
      error: `${option} names ${file}, which cannot be read (it is a named pipe): correct the path or its rights`,
    });
    stop();
  });
});

describe('a finding', () => {
  it('ends audit verify with exit code 1, and names the chain', async () => {
    const { owner } = app.services.database;
    const change = (from: string, to: string) =>
      owner.query(
        `update audit_log set action = $3 where tenant_id = $1 and sequence = 1 and position > 0 and action like $2 || '%'`,
        [acme.tenantId, from, to],
      );
    const { rows } = await owner.query<{ action: string }>(
      'select action from audit_log where tenant_id = $1 and sequence = 1 and position > 0',
      [acme.tenantId],
    );
    expect((await run('audit', 'verify')).code).toBe(0);
    await change('', 'nothing.happened');
    const { code, outcome, result } = await resultOf('audit', 'verify', '--tenant', 'acme');
    expect([code, outcome, result]).toEqual([
      1,
      'finding',
      {
        chains: [
          {
            owner: 'tenant acme',
            id: acme.tenantId,
            valid: false,
            entriesChecked: 0,
            reason: 'entry_changed',
            firstInvalidSequence: 1,
          },
        ],
        damagedHeadLines: 0,
      },
    ]);
    expect((await run('audit', 'verify')).stdout).toMatch(/^BROKEN {2}tenant acme /m);
    await change('nothing', rows[0]!.action);
    expect((await run('audit', 'verify')).code).toBe(0);
  });

  it('ends audit verify with exit code 1 if lines of the sealed heads are something else', async () => {
    const heads = join(app.config.dataDir, 'audit-heads.jsonl');
    const before = existsSync(heads) ? readFileSync(heads, 'utf8') : '';
    writeFileSync(heads, `${before}\ngarbage\n`);
    const { code, stdout } = await run('audit', 'verify');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^damaged audit-heads\.jsonl has 1 line that is no sealed/m),
    ]);
    expect((await resultOf('audit', 'verify')).result).toMatchObject({ damagedHeadLines: 1 });
    writeFileSync(heads, before);
    expect((await run('audit', 'verify')).code).toBe(0);
  });

  it('ends projections diff with exit code 1, and names the row', async () => {
    const { owner } = app.services.database;
    await owner.query(`update tenants set name = 'Other' where id = $1`, [acme.tenantId]);
    const { code, result } = await resultOf('projections', 'diff', 'tenants');
    expect([code, result]).toEqual([
      1,
      {
        models: [
          expect.objectContaining({
            model: 'tenants',
            differences: [expect.objectContaining({ kind: 'changed', columns: ['name'] })],
          }),
        ],
      },
    ]);
    expect((await run('projections', 'rebuild', 'tenants')).code).toBe(0);
    expect((await run('projections', 'diff', 'tenants')).code).toBe(0);
  });
});

describe('a reconstruction', () => {
  const rebuild = (name: string, ...words: string[]) =>
    run('projections', 'rebuild', name, '--into', 'case_7', ...words);

  it('is replaced only with consent, and by its own model without', async () => {
    const { owner } = app.services.database;
    const tenants = async () => (await owner.query('select 1 from case_7.tenants')).rowCount;
    expect((await rebuild('tenants')).code).toBe(0);
    const found = await tenants();
    expect(found).toBeGreaterThan(0);
    const refused = await rebuild('tenants', '--as-of', '1');
    expect([refused.code, await tenants()]).toEqual([2, found]);
    expect(refused.stderr).toContain('This replaces the reconstruction of tenants in the schema case_7.');
    expect((await rebuild('all', '--as-of', '1')).code).toBe(2);
    // Another model beside it replaces nothing, and another schema has nothing.
    expect((await rebuild('groups')).code).toBe(0);
    expect([(await rebuild('tenants', '--as-of', '1', '--yes')).code, await tenants()]).toEqual([0, 0]);
    await owner.query('drop schema case_7 cascade');
  });
});

describe('a stream', () => {
  const lines = async (...words: string[]) =>
    (await run('audit', 'export', '--tenant', 'acme', ...words)).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);

  it('holds one record per line; with --json its last line says that it is complete', async () => {
    const records = await lines();
    expect(records.length).toBeGreaterThan(1);
    expect(await lines('--json')).toEqual([
      ...records,
      { command: 'audit export', outcome: 'fine', exitCode: 0, result: { records: records.length } },
    ]);
    expect(await lines('--limit', '1')).toEqual(records.slice(0, 1));
  });
});

describe('an erasure', () => {
  it('can be tried without doing it', async () => {
    const person = { email: 'kim@acme.example', displayName: 'Kim' };
    const created = await (await app.reauthenticated(acme.token)).post('/api/v1/admin/users', person);
    expect(created.status).toBe(201);
    const words = ['person', 'erase', '--tenant', 'acme', '--person', person.email];
    const found = { tenantId: acme.tenantId, userId: created.body.id as string };
    expect(await resultOf(...words, '--dry-run')).toMatchObject({ code: 0, result: { ...found, erased: false } });
    expect(await resultOf(...words, '--dry-run')).toMatchObject({ code: 0, result: { ...found, status: 'present' } });
    expect((await run(...words)).code).toBe(2);
    expect(await resultOf(...words, '--yes')).toMatchObject({ code: 0, result: { ...found, erased: true } });
    expect((await run(...words, '--yes')).stderr).toBe('castellan: there is no employee with this e-mail\n');
  });
});
