import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';

const SIGNATURES = '/api/v1/admin/signatures';
const CLICKFIX = '/api/v1/admin/clickfix-signatures';
const TOLD = '/api/v1/ext/policies';

const packed = (n: number, over: object = {}) => ({
  name: `Kit ${n}`,
  type: 'url',
  pattern: `*/login-${n}.php`,
  patternType: 'wildcard',
  ...over,
});
const pack = (over: object = {}) => ({
  name: 'Kits',
  version: '1.0',
  signatures: [packed(1), packed(2), packed(3)],
  ...over,
});

describe('signatures', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const create = (over: object = {}, { admin } = acme) =>
    admin.post(SIGNATURES, {
      name: 'Fake bank',
      type: 'domain',
      pattern: 'Login.Example.COM',
      patternType: 'exact',
      ...over,
    });
  const listed = async (tenant: TestTenant, filter = '') =>
    (await tenant.admin.get(SIGNATURES + filter)).body.signatures as Record<string, unknown>[];
  const sendParts = async ({ token }: TestTenant, parts: Record<string, Blob | string>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts))
      form.append(name, value as Blob, ...(typeof value === 'string' ? [] : ['pack.json']));
    const answer = await fetch(`${app.url}${SIGNATURES}/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  const upload = (tenant: TestTenant, content: unknown) =>
    sendParts(tenant, { file: new Blob([typeof content === 'string' ? content : JSON.stringify(content)]) });

  /** Retries after a 429, as a client does: a tenant may have few concurrent uploads. */
  const uploadPatiently = (tenant: TestTenant, content: unknown) =>
    vi.waitFor(
      async () => {
        const answer = await upload(tenant, content);
        expect(answer.status).not.toBe(429);
        return answer;
      },
      { timeout: 60_000 },
    );

  it('are stored normalized, with their origin', async () => {
    const { status, body } = await create();
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Fake bank',
        description: '',
        type: 'domain',
        pattern: 'login.example.com',
        patternType: 'exact',
        severity: 'medium',
        isEnabled: true,
        source: 'manual',
        packId: null,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ]);
    const changed = await acme.admin.put(`${SIGNATURES}/${body.id}`, {
      patternType: 'wildcard',
      pattern: '*.Example.com',
      source: 'pack',
    });
    expect(changed.body).toMatchObject({ pattern: '*.example.com', source: 'manual' });
    expect((await acme.admin.delete(`${SIGNATURES}/${body.id}`)).status).toBe(204);
  });

  it.each([
    [{ pattern: 'not a host' }, 'pattern: must be a host name'],
    [{ patternType: 'wildcard', pattern: '*' }, 'pattern: must name something besides *'],
    [{ type: 'content', patternType: 'wildcard', pattern: '* *' }, 'pattern: must name something besides *'],
    [{ type: 'dom', patternType: 'regex', pattern: '(a' }, 'pattern: is not a regular expression'],
    [{ type: 'dom', patternType: 'regex', pattern: '(a)\\1' }, 'pattern: must not use backreferences'],
    [{ type: 'url', patternType: 'regex', pattern: '(?=a)b' }, 'pattern: must not use lookahead or lookbehind'],
    [
      { type: 'url', patternType: 'regex', pattern: '((a{30}){30}){30}' },
      'pattern: must not repeat more than 1000 times',
    ],
    [{ type: 'content', pattern: `a${'\u0007'}b` }, 'pattern: must not hold control characters'],
    [{ severity: 'awful' }, 'severity: must be one of critical, high, medium, low'],
  ])('are rejected as %j', async (over, message) => {
    const { status, body } = await create(over);
    expect([status, body]).toEqual([400, expect.objectContaining({ error: `validation failed: ${message}` })]);
  });

  it('are filtered by type; invalid filters are rejected', async () => {
    const tenant = await app.newTenant();
    await create({}, tenant);
    await create({ type: 'content', pattern: 'Verify your wallet', severity: 'critical' }, tenant);
    expect((await listed(tenant, '?type=content')).map(({ severity }) => severity)).toEqual(['critical']);
    expect(await listed(tenant, '?is_enabled=false')).toEqual([]);
    for (const query of ['?type=%00', '?type=x', '?severity='])
      expect((await tenant.admin.get(SIGNATURES + query)).status).toBe(400);
  });

  it('reach extensions with a new policy version, except disabled ones', async () => {
    const tenant = await app.newTenant();
    const { client } = await enrolledDevice(app, tenant);
    const before = await client.get(TOLD);
    const { body: bank } = await create({}, tenant);
    await create({ name: 'Off', isEnabled: false }, tenant);
    const { body: paste } = await tenant.admin.post(CLICKFIX, {
      name: 'Paste me',
      pattern: 'powershell -enc',
      patternType: 'substring',
      platform: 'windows',
    });
    const after = await client.get(TOLD, { headers: { 'if-none-match': before.headers.get('etag')! } });
    expect(after.status).toBe(200);
    expect(after.body.policyVersion).not.toBe(before.body.policyVersion);
    expect(after.body.signatures).toEqual([
      {
        id: bank.id,
        version: 1,
        name: 'Fake bank',
        type: 'domain',
        pattern: 'login.example.com',
        patternType: 'exact',
        severity: 'medium',
      },
    ]);
    expect(after.body.clickfixSignatures).toEqual([
      {
        id: paste.id,
        version: 1,
        name: 'Paste me',
        pattern: 'powershell -enc',
        patternType: 'substring',
        platform: 'windows',
        severity: 'high',
        action: 'warn',
      },
    ]);
    expect((await client.get(TOLD, { headers: { 'if-none-match': after.headers.get('etag')! } })).status).toBe(304);
    await tenant.admin.put(`${SIGNATURES}/${bank.id}`, { severity: 'low' });
    expect((await client.get(TOLD)).body.signatures).toMatchObject([{ version: 2, severity: 'low' }]);
    client.close();
  });

  describe('of a pack', () => {
    it('are imported once, change with its next version, and stay disabled', async () => {
      const tenant = await app.newTenant();
      const first = await upload(tenant, pack());
      expect([first.status, first.body]).toEqual([
        201,
        { packId: expect.any(String), name: 'Kits', version: '1.0', imported: 3, updated: 0, skipped: 0 },
      ]);
      expect((await upload(tenant, pack({ name: 'KITS' }))).status).toBe(409);
      const one = (await listed(tenant)).find(({ name }) => name === 'Kit 1')!;
      expect(one).toMatchObject({ source: 'pack', packId: first.body.packId, isEnabled: true });
      await tenant.admin.put(`${SIGNATURES}/${one['id'] as string}`, { isEnabled: false });

      const signatures = [packed(1, { severity: 'high' }), packed(2), packed(4), packed(4)];
      const second = await upload(tenant, pack({ version: '1.1', signatures }));
      expect(second.body).toMatchObject({ imported: 1, updated: 1, skipped: 2 });
      const known = await listed(tenant);
      expect(known).toHaveLength(4);
      expect(known.find(({ id }) => id === one['id'])).toMatchObject({
        severity: 'high',
        isEnabled: false,
        packId: second.body.packId,
      });
      const packs = (await tenant.admin.get(`${SIGNATURES}/packs`)).body;
      expect(packs).toMatchObject({
        total: 2,
        packs: [
          { id: second.body.packId, version: '1.1', signatureCount: 4, uploadedBy: tenant.adminId },
          { id: first.body.packId, signatureCount: 3 },
        ],
      });
      const { total } = (await tenant.admin.get('/api/v1/admin/audit-log?action=signature_pack.uploaded')).body;
      expect(total).toBe(2);
    });

    it('are imported once when twenty requests send it at the same time', async () => {
      const tenant = await app.newTenant();
      const answers = await Promise.all(Array.from({ length: 20 }, () => uploadPatiently(tenant, pack())));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
      expect(await listed(tenant)).toHaveLength(3);
      expect((await tenant.admin.get(`${SIGNATURES}/packs`)).body.total).toBe(1);
    });

    it('belong to one file when other files of the same pack arrive at the same time', async () => {
      const tenant = await app.newTenant();
      const files = Array.from({ length: 10 }, (_, n) =>
        pack({ version: `1.${n % 2}`, signatures: [packed(n * 2), packed(n * 2 + 1)] }),
      );
      const answers = await Promise.all(files.map((file) => uploadPatiently(tenant, file)));
      const taken = answers.flatMap(({ status }, n) => (status === 201 ? [n] : []));
      // A version may follow the other, but never interleave with it; a refused one leaves nothing.
      expect(new Set(taken.map((n) => n % 2)).size).toBe(taken.length);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(10 - taken.length);
      expect((await listed(tenant)).map(({ name }) => name as string).sort()).toEqual(
        taken.flatMap((n) => [packed(n * 2).name, packed(n * 2 + 1).name]).sort(),
      );
    });

    it("fill the tenant's limit exactly", async () => {
      const tenant = await app.newTenant();
      const many = pack({ signatures: Array.from({ length: 2_000 }, (_, n) => packed(n)) });
      expect((await upload(tenant, many)).body).toMatchObject({ imported: 2_000 });
      expect((await create({}, tenant)).status).toBe(409);
      const oneMore = await upload(
        tenant,
        pack({ version: '1.1', signatures: [packed(0, { severity: 'low' }), packed(2_001)] }),
      );
      expect([oneMore.status, oneMore.body]).toEqual([
        409,
        expect.objectContaining({ error: 'no more than 2000 signatures' }),
      ]);
      expect(await listed(tenant, '?severity=low')).toEqual([]);
      // Known signatures may still change.
      expect(
        (await upload(tenant, pack({ version: '2', signatures: [packed(7, { severity: 'low' })] }))).body,
      ).toMatchObject({ updated: 1 });
    }, 60_000);

    const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    it.each<[string, unknown, number, RegExp]>([
      ['no JSON', 'PK\u0003\u0004', 400, /^validation failed: file: is not JSON/],
      ['a list', [], 400, /file: must be of type object/],
      ['no signatures', pack({ signatures: [] }), 400, /signatures: must not be empty/],
      [
        'too many',
        pack({ signatures: Array.from({ length: 50_000 }, () => 0) }),
        400,
        /signatures: must be at most 2000/,
      ],
      [
        'one bad pattern',
        pack({ signatures: [packed(1), packed(2, { patternType: 'regex', pattern: '(?<!x)y' })] }),
        400,
        /signatures\.1\.pattern: must not use lookahead or lookbehind/,
      ],
      [
        'a wrong type',
        pack({ signatures: [packed(1, { type: 'smell' })] }),
        400,
        /signatures\.0\.type: must be one of/,
      ],
      ['NUL', pack({ name: 'a\u0000b' }), 400, /not text/],
      ['half a character', '{"name":"\\ud800","version":"1","signatures":[]}', 400, /not text/],
      ['a version that is a path', pack({ version: '../1' }), 400, /version: must be letters/],
      ['a deep nest', nested, 400, /file: is nested more than 8 deep/],
      [
        'a deep nest within',
        `{"name":"x","version":"1","signatures":[${nested}]}`,
        400,
        /file: is nested more than 8 deep/,
      ],
      ['millions of objects', `[${'{},'.repeat(3_000_000)}{}]`, 400, /file: holds too many parts/],
      [
        'patterns that are short and come to much',
        pack({
          signatures: Array.from({ length: 2_000 }, (_, n) =>
            packed(n, { type: 'content', patternType: 'regex', pattern: 'a{1000}'.repeat(60) }),
          ),
        }),
        400,
        /signatures\.0\.pattern: must not expand to more than 2000 parts/,
      ],
    ])('are rejected as a whole for %s', async (_what, content, status, message) => {
      const tenant = await app.newTenant();
      const answer = await upload(tenant, content);
      expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)]);
      expect(await listed(tenant)).toEqual([]);
    });

    it('are rejected in an archive, above ten megabytes, and without a file', async () => {
      const zeros = gzipSync(Buffer.alloc(50 * 1024 * 1024));
      expect((await sendParts(acme, { file: new Blob([zeros]) })).status).toBe(400);
      expect((await sendParts(acme, { file: new Blob([Buffer.alloc(10 * 1024 * 1024 + 1, ' ')]) })).status).toBe(413);
      expect((await sendParts(acme, { note: 'no file' })).body).toMatchObject({
        error: 'validation failed: file: is required',
      });
    });
  });

  it('for ClickFix are interpreted as in extensions', async () => {
    const paste = { name: 'Paste me', pattern: 'mshta\\s+https?://', patternType: 'regex' };
    const { status, body } = await acme.admin.post(CLICKFIX, paste);
    expect([status, body]).toMatchObject([
      201,
      { ...paste, platform: 'any', severity: 'high', action: 'warn', isEnabled: true },
    ]);
    expect((await acme.admin.put(`${CLICKFIX}/${body.id}`, { pattern: '(a+)+\\1' })).body).toMatchObject({
      error: 'validation failed: pattern: must not use backreferences',
    });
    expect((await acme.admin.put(`${CLICKFIX}/${randomUUID()}`, { action: 'block' })).status).toBe(404);
    expect((await acme.admin.delete(`${CLICKFIX}/${body.id}`)).status).toBe(204);
  });
});
