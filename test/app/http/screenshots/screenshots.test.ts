import { randomUUID } from 'node:crypto';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenshotSweeping } from '../../../../src/contexts/screenshots/sweep-screenshots.ts';
import { startApp, type TestResponse, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { browserPicture, multipart, png, type Upload } from '../../../dsl/pictures.ts';

const BASE = '/api/v1/admin/screenshots';
const ORIGIN = 'https://shop.example';

describe('screenshots', () => {
  let app: TestApp;
  let acme: TestTenant;
  let device: EnrolledDevice;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant({ externalBaseUrl: app.url });
    device = await enrolledDevice(app, acme);
  });
  afterAll(async () => {
    device.client.close();
    await app.close();
  });

  async function observed({ from = device, breached = false } = {}): Promise<string> {
    const eventId = randomUUID();
    const login = {
      username: 'kim',
      passwordHash: 'ab'.repeat(32),
      isBreached: breached,
      action: 'warn',
      userDecision: 'none',
    };
    const event = {
      eventId,
      kind: 'credential_attempt',
      occurredAt: new Date().toISOString(),
      domain: `${randomUUID()}.example`,
      data: login,
    };
    const answer = await from.client.post('/api/v1/ext/events', { events: [event] });
    expect([answer.status, answer.body]).toEqual([202, { accepted: 1, duplicates: 0, rejected: [] }]);
    return eventId;
  }

  const send = (upload: Upload, from = device): Promise<TestResponse> =>
    from.client.post('/api/v1/ext/screenshots', undefined, multipart(upload));
  const fieldsOf = (eventId: string, over: object = {}) => ({
    eventId,
    origin: ORIGIN,
    capturedAt: new Date().toISOString(),
    ...over,
  });

  async function taken(eventId: string, file = png(), type = 'image/png'): Promise<string> {
    const answer = await send({ fields: fieldsOf(eventId), file, type });
    expect([answer.status, answer.text]).toEqual([201, JSON.stringify({ id: answer.body?.id })]);
    return answer.body.id as string;
  }

  const bytesAt = async (address: string, token?: string) => {
    const answer = await fetch(address, token ? { headers: { authorization: `Bearer ${token}` } } : {});
    return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const objectFiles = async (): Promise<string[]> =>
    (await readdir(join(app.config.dataDir, 'objects'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  const filesOf = async (id: string) => (await objectFiles()).filter((path) => path.endsWith(id));

  it('OP-568 names the field that is not text', async () => {
    const eventId = await observed();
    const answer = await send({ fields: fieldsOf(eventId, { origin: 'https://a\u0000.example' }), file: png() });
    expect([answer.status, answer.body.fields]).toEqual([
      400,
      [{ field: 'origin', message: expect.any(String) as string }],
    ]);
  });

  it('names a file that is no image beside wrong fields', async () => {
    const eventId = await observed();
    const answer = await send({ fields: fieldsOf(eventId, { origin: 'zzz' }), file: Buffer.from('none') });
    expect([answer.status, answer.body.fields]).toEqual([
      400,
      [
        { field: 'file', message: 'must be a PNG, JPEG or WebP image' },
        { field: 'origin', message: expect.any(String) as string },
      ],
    ]);
  });

  describe('are counted by arrival', () => {
    const PER_DAY = { pictures: 100, bytes: 50 * 1024 * 1024 };
    /** Leaves this much of the budget, whatever was used before. */
    const leave = (name: string, amount: number) =>
      app.services.database.owner.query(
        `insert into arrival_budgets values ($1, $2, $3, clock_timestamp()) on conflict (tenant_id, name) do update set remaining = $3, counted_at = clock_timestamp()`,
        [acme.tenantId, name, amount],
      );

    it.each([
      ['pictures of a device', (id: string) => `screenshots/${id}`, 14 * PER_DAY.pictures],
      ['bytes of a device', (id: string) => `screenshot-bytes/${id}`, 14 * PER_DAY.bytes],
      ['bytes of a tenant', () => 'screenshot-bytes', 14 * PER_DAY.bytes],
    ])('as %s, and refused with a time at which there is capacity again', async (_what, nameOf, plenty) => {
      const other = await enrolledDevice(app, acme);
      const name = nameOf(other.deviceId);
      await leave(name, -plenty);
      const eventId = await observed({ from: other });
      const again = { fields: fieldsOf(eventId), file: png(), type: 'image/png' };
      const refused = await send(again, other);
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      await leave(name, plenty);
      const first = await send(again, other);
      expect(first.status).toBe(201);
      await leave(name, -plenty);
      // The same picture is sent again, at no cost.
      expect(await send(again, other)).toMatchObject({ status: 201, body: first.body });
      await leave(name, plenty);
      other.client.close();
    });

    it('whatever the days of the observations', async () => {
      const other = await enrolledDevice(app, acme);
      await leave(`screenshots/${other.deviceId}`, 2.5);
      const statuses: number[] = [];
      for (const days of [0, 20, 40, 60]) {
        const occurredAt = new Date(Date.now() - days * 86_400_000).toISOString();
        const eventId = randomUUID();
        await other.client.post('/api/v1/ext/events', {
          events: [{ eventId, kind: 'screenshot', occurredAt, domain: 'shop.example' }],
        });
        statuses.push(
          (await send({ fields: fieldsOf(eventId, { capturedAt: occurredAt }), file: png(), type: 'image/png' }, other))
            .status,
        );
      }
      expect(statuses).toEqual([201, 201, 429, 429]);
      other.client.close();
    });
  });

  it.each([
    ['browser.png', 'image/png', 'png'],
    ['browser.jpg', 'image/jpeg', 'jpg'],
    ['browser.webp', 'image/webp', 'webp'],
  ] as const)(
    'are returned unchanged as %s, to an admin and by signed address, with headers that allow only a picture',
    async (name, type, extension) => {
      const eventId = await observed();
      const picture = browserPicture(name);
      const id = await taken(eventId, picture, type);
      const { status, body } = await acme.admin.get(`${BASE}/${id}`);
      expect([status, body]).toEqual([
        200,
        { id, eventId, url: expect.any(String), origin: ORIGIN, capturedAt: expect.stringMatching(/Z$/) },
      ]);
      expect(body.url.startsWith(`${app.url}/`)).toBe(true);
      for (const answer of [await bytesAt(`${app.url}${BASE}/${id}/image`, acme.token), await bytesAt(body.url)]) {
        expect([answer.status, answer.bytes.equals(picture)]).toEqual([200, true]);
        expect(
          Object.fromEntries(
            [
              'content-type',
              'content-disposition',
              'content-security-policy',
              'x-content-type-options',
              'cache-control',
            ].map((header) => [header, answer.headers.get(header)]),
          ),
        ).toEqual({
          'content-type': type,
          'content-disposition': `inline; filename="screenshot-${id}.${extension}"`,
          'content-security-policy': "sandbox; default-src 'none'",
          'x-content-type-options': 'nosniff',
          'cache-control': 'private, no-store',
        });
      }
    },
  );

  it('are listed in the order in which they were taken, and are named in the alert', async () => {
    const eventId = await observed({ breached: true });
    const ids: string[] = [];
    for (const shade of [1, 2, 3]) ids.push(await taken(eventId, png({ shade })));
    await app.settled();
    const { body } = await acme.admin.get(`${BASE}/event/${eventId}`);
    expect([body.total, body.screenshots.map(({ id }: { id: string }) => id)]).toEqual([3, ids]);
    const alerts = (await acme.admin.get('/api/v1/admin/alerts?alert_type=breached_password')).body.alerts as {
      id: string;
      eventId: string;
      screenshotIds: string[];
    }[];
    const alert = alerts.find((one) => one.eventId === eventId)!;
    expect(alert.screenshotIds).toEqual(ids);
    expect((await acme.admin.get(`/api/v1/admin/alerts/${alert.id}`)).body.screenshotIds).toEqual(ids);
    const bare = await observed();
    await app.settled();
    expect((await acme.admin.get(`${BASE}/event/${bare}`)).body).toEqual({ screenshots: [], total: 0 });
    expect((await acme.admin.get(`${BASE}/event/${randomUUID()}`)).status).toBe(404);
  });

  it("are viewed under the user's name: the audit log records who saw which", async () => {
    const tenant = acme;
    const id = await taken(await observed(), png({ shade: 21 }));
    await tenant.admin.get(`${BASE}/${id}`);
    await bytesAt(`${app.url}${BASE}/${id}/image`, tenant.token);
    await app.settled();
    const { auditLogs } = (await tenant.admin.get(`/api/v1/admin/audit-log?action=screenshot.viewed&page_size=100`))
      .body;
    const mine = auditLogs.filter(({ resourceId }: { resourceId: string }) => resourceId === id);
    expect(
      mine
        .map(({ actorId, details }: { actorId: string; details: { shown: string } }) => [actorId, details.shown])
        .toSorted(),
    ).toEqual([
      [tenant.adminId, 'address'],
      [tenant.adminId, 'picture'],
    ]);
  });

  it('count once, however often and concurrently they are sent', async () => {
    const eventId = await observed();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => send({ fields: fieldsOf(eventId), file: png({ shade: 9 }) })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await acme.admin.get(`${BASE}/event/${eventId}`)).body.total).toBe(1);
    expect(await filesOf(answers[0]!.body.id as string)).toHaveLength(1);
  });

  it('are limited to ten per event, also when all arrive at once', async () => {
    const eventId = await observed();
    const statuses = (
      await Promise.all(
        Array.from({ length: 13 }, (_, shade) => send({ fields: fieldsOf(eventId), file: png({ shade }) })),
      )
    ).map(({ status }) => status);
    expect([
      statuses.filter((status) => status === 201).length,
      statuses.filter((status) => status === 409).length,
    ]).toEqual([10, 3]);
  });

  it('must belong to an event that the same device reported', async () => {
    const other = await enrolledDevice(app, acme);
    const eventId = await observed({ from: other });
    for (const unknown of [eventId, randomUUID()]) {
      const answer = await send({ fields: fieldsOf(unknown), file: png() });
      expect([answer.status, answer.body]).toEqual([
        400,
        expect.objectContaining({ error: 'validation failed: eventId: is not an event of this device' }),
      ]);
    }
    other.client.close();
  });

  it('are rejected with a reason if the file is invalid', async () => {
    const eventId = await observed();
    const before = (await objectFiles()).length;
    const picture = png();
    const cases: [string, Upload, number, string][] = [
      [
        'a polyglot',
        { file: Buffer.concat([picture, Buffer.from('<script>alert(1)</script>')]) },
        400,
        'file: has data after its end',
      ],
      ['a JPEG called PNG', { file: browserPicture('browser.jpg') }, 400, 'file: is not of the declared media type'],
      ['a PNG called HTML', { file: picture, type: 'text/html' }, 400, 'file: is not of the declared media type'],
      [
        'SVG',
        { file: Buffer.from('<svg onload="alert(1)"/>'), type: 'image/svg+xml' },
        400,
        'file: must be a PNG, JPEG or WebP image',
      ],
      [
        'HTML called PNG',
        { file: Buffer.from('<!doctype html><script>alert(1)</script>') },
        400,
        'file: must be a PNG, JPEG or WebP image',
      ],
      ['a bomb', { file: png({ width: 60_000, height: 60_000 }) }, 400, 'file: has too many pixels'],
      ['half of it', { file: picture.subarray(0, -6) }, 400, 'file: is not a valid PNG image'],
      ['nothing', { file: Buffer.alloc(0) }, 400, 'file: must be a PNG, JPEG or WebP image'],
      ['no file', {}, 400, 'file: is required'],
      ['a file under another name', { file: picture, fileField: 'image' }, 400, 'file: is required'],
    ];
    for (const [what, upload, status, reason] of cases) {
      const answer = await send({ fields: fieldsOf(eventId), ...upload });
      expect([what, answer.status, answer.body]).toEqual([
        what,
        status,
        expect.objectContaining({ error: `validation failed: ${reason}` }),
      ]);
    }
    const large = await send({ fields: fieldsOf(eventId), file: Buffer.alloc(5 * 1024 * 1024 + 1) });
    expect(large.status).toBe(413);
    expect((await objectFiles()).length).toBe(before);
  });

  it('are rejected if a field is invalid', async () => {
    const eventId = await observed();
    const wrong: [object, string][] = [
      [{ eventId: '../../x' }, 'eventId'],
      [{ origin: 'javascript:alert(1)' }, 'origin'],
      [{ origin: 'https://user:word@shop.example' }, 'origin'],
      [{ origin: `${ORIGIN}/path?token=1` }, 'origin'],
      [{ capturedAt: 'yesterday' }, 'capturedAt'],
      [{ capturedAt: new Date(Date.now() + 3 * 86_400_000).toISOString() }, 'capturedAt'],
      [{ capturedAt: '2020-01-01T00:00:00Z' }, 'capturedAt'],
    ];
    for (const [over, field] of wrong) {
      const answer = await send({ fields: fieldsOf(eventId, over), file: png() });
      expect([over, answer.status, answer.body?.error]).toEqual([
        over,
        400,
        expect.stringContaining(`validation failed: ${field}: `),
      ]);
    }
    expect((await device.client.post('/api/v1/ext/screenshots', { eventId })).status).toBe(415);
  });

  it('are refused if the tenant has disabled them', async () => {
    const quiet = await app.newTenant();
    const its = await enrolledDevice(app, quiet);
    const eventId = await observed({ from: its });
    expect((await quiet.admin.put('/api/v1/admin/settings', { screenshotEnabled: false })).status).toBe(200);
    await expect
      .poll(async () => (await send({ fields: fieldsOf(eventId), file: png() }, its)).status, { timeout: 10_000 })
      .toBe(403);
    its.client.close();
  });

  it('are not accessible to another tenant, a viewer, or by an altered address', async () => {
    const eventId = await observed();
    const id = await taken(eventId);
    const other = await app.newTenant();
    const viewer = (await app.adminWithRole(acme, 'viewer')).client;
    expect((await other.admin.get(`${BASE}/${id}`)).status).toBe(404);
    expect((await other.admin.get(`${BASE}/${id}/image`)).status).toBe(404);
    expect((await other.admin.get(`${BASE}/event/${eventId}`)).status).toBe(404);
    expect((await viewer.get(`${BASE}/${id}`)).status).toBe(403);

    const url = new URL((await acme.admin.get(`${BASE}/${id}`)).body.url as string);
    const another = await taken(eventId, png({ shade: 77 }));
    const changed = (change: (address: URL) => void) => {
      const address = new URL(url);
      change(address);
      return bytesAt(address.href);
    };
    const forged = [
      await changed((address) =>
        address.searchParams.set('expires', String(Number(address.searchParams.get('expires')) + 1)),
      ),
      await changed((address) => void (address.pathname = address.pathname.replace(id, another))),
      await changed((address) => void (address.pathname = address.pathname.replace(acme.tenantId, other.tenantId))),
      await changed((address) => address.searchParams.set('signature', 'f'.repeat(64))),
      await changed((address) => address.searchParams.delete('signature')),
      await changed((address) => address.searchParams.delete('expires')),
    ];
    for (const { status, bytes } of forged)
      expect([status, JSON.parse(bytes.toString())]).toEqual([
        403,
        expect.objectContaining({ error: 'the address is not valid' }),
      ]);
    const old = app.services.screenshotAddresses.address(app.url, acme.tenantId, id, Date.now() - 15 * 60_000 - 1_000);
    const expired = await bytesAt(old);
    expect([expired.status, JSON.parse(expired.bytes.toString())]).toEqual([
      403,
      expect.objectContaining({ error: 'the address has expired' }),
    ]);
    const nearly = app.services.screenshotAddresses.address(app.url, acme.tenantId, id, Date.now() - 14 * 60_000);
    expect((await bytesAt(nearly)).status).toBe(200);
    // A dashboard of another origin may show it; what needs a session stays closed to `<img>`.
    expect((await fetch(nearly)).headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const { headers } = await acme.admin.get(`/api/v1/admin/screenshots/${id}/image`);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    const gone = app.services.screenshotAddresses.address(app.url, acme.tenantId, randomUUID(), Date.now());
    expect((await bytesAt(gone)).status).toBe(404);
  });

  it('are sealed at rest, and are erased with their person, despite copies of the object', async () => {
    const leaving = await enrolledDevice(app, acme);
    const eventId = await observed({ from: leaving });
    const id = (await send({ fields: fieldsOf(eventId), file: png({ shade: 5 }) }, leaving)).body.id as string;
    const [path] = await filesOf(id);
    const copy = await readFile(path!);
    const place = {
      tenantId: acme.tenantId,
      userId: leaving.userId,
      deviceId: leaving.deviceId,
      day: path!.split('/').at(-2)!,
      screenshotId: id,
    };
    expect((await app.services.pictures.read(place))!.equals(png({ shade: 5 }))).toBe(true);
    expect([copy.includes(Buffer.from('PNG')), copy.includes(Buffer.from('IHDR'))]).toEqual([false, false]);
    const { url } = (await acme.admin.get(`${BASE}/${id}`)).body as { url: string };
    expect((await bytesAt(url)).status).toBe(200);

    expect((await acme.admin.delete(`/api/v1/admin/users/${leaving.userId}?erase=true`)).status).toBe(204);
    await app.settled();
    expect((await acme.admin.get(`${BASE}/${id}`)).status).toBe(404);
    expect((await bytesAt(url)).status).toBe(404);
    await expect.poll(() => filesOf(id), { timeout: 10_000 }).toEqual([]);
    // A backup restores the object, but its key is gone.
    await writeFile(path!, copy);
    expect(await app.services.pictures.read(place)).toBeUndefined();
    leaving.client.close();
  });

  it('are deleted if no event names them, and kept if one does or still may', async () => {
    const eventId = await observed();
    const id = await taken(eventId, png({ shade: 123 }));
    const [known] = await filesOf(id);
    const day = known!.split('/').at(-2)!;
    const orphan = {
      tenantId: acme.tenantId,
      userId: device.userId,
      deviceId: device.deviceId,
      day,
      screenshotId: randomUUID(),
    };
    const young = { ...orphan, screenshotId: randomUUID() };
    await app.services.pictures.keep(orphan, png());
    await app.services.pictures.keep(young, png());
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(known!, old, old);
    await utimes((await filesOf(orphan.screenshotId))[0]!, old, old);
    await app.services.jobs.enqueue(screenshotSweeping, {});
    await expect.poll(() => filesOf(orphan.screenshotId), { timeout: 10_000 }).toEqual([]);
    expect([(await filesOf(id)).length, (await filesOf(young.screenshotId)).length]).toEqual([1, 1]);
  });
});
