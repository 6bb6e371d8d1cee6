import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { startApp, type TestApp, type TestResponse, type TestTenant } from '../../dsl/app.ts';
import { enrolledDevice } from '../../dsl/enrolled-device.ts';

const GROUPS = '/api/v1/admin/groups';

/** OP-590. What was read of a log that turns out to be cut is told to nobody, whatever it says. */
describe('a log whose end was cut off under a running service', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let before: bigint;
  let lines: { level: number; msg: string; err?: object }[];
  beforeEach(async () => {
    lines = [];
    app = await startApp({}, newLogger('warn', { write: (line: string) => void lines.push(JSON.parse(line)) }));
    tenant = await app.newTenant();
    await tenant.admin.post(GROUPS, { name: 'Kept' });
    await app.settled();
    before = await app.services.head();
  });
  afterEach(() => app.close());

  const cut = () => app.services.database.owner.query('delete from events where position > $1', [String(before)]);
  const made = async (name: string): Promise<string> => {
    const { body } = await tenant.admin.post(GROUPS, { name });
    await app.settled();
    return body.id;
  };
  const expectRefused = ({ status, headers, body }: TestResponse) =>
    expect({ status, code: body.code, retryAfter: headers.get('retry-after') }).toEqual({
      status: 503,
      code: 'service_unavailable',
      retryAfter: expect.stringMatching(/^\d+$/),
    });

  it('refuses the write that reveals it, and all after it', async () => {
    await made('Lost');
    await cut();
    for (let n = 0; n < 4; n += 1) expectRefused(await tenant.admin.post(GROUPS, { name: `After ${n}` }));
    expectRefused(await tenant.admin.get(GROUPS));
    const ready = await app.anonymous.get('/ready');
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  });

  it('refuses a change of a record that ends before what was read of it', async () => {
    const { body } = await tenant.admin.get(GROUPS);
    const id = body.groups[0].id;
    await tenant.admin.put(`${GROUPS}/${id}`, { name: 'Lost name' });
    await app.settled();
    await cut();
    expectRefused(await tenant.admin.put(`${GROUPS}/${id}`, { name: 'Another' }));
  });

  it('refuses the change of a record that is not there any more', async () => {
    const id = await made('Lost');
    await cut();
    expectRefused(await tenant.admin.put(`${GROUPS}/${id}`, { name: 'Another' }));
    expectRefused(await tenant.admin.get(`${GROUPS}/${id}`));
  });

  it('refuses policies that were made up while the cut was noticed', async () => {
    const { client } = await enrolledDevice(app, tenant);
    await made('Lost');
    const { extensionResponses } = app.services;
    const ofPerson = extensionResponses.ofPerson.bind(extensionResponses);
    let isMade = (): void => undefined;
    const untilMade = new Promise<void>((resolve) => (isMade = resolve));
    const asked = new Promise<void>((resolve) =>
      vi.spyOn(extensionResponses, 'ofPerson').mockImplementationOnce(async (...of) => {
        resolve();
        await untilMade;
        return ofPerson(...of);
      }),
    );
    const fetched = client.get('/api/v1/ext/policies');
    await asked;
    await cut();
    expectRefused(await tenant.admin.post(GROUPS, { name: 'After' }));
    isMade();
    expectRefused(await fetched);
    client.close();
  });

  it('says neither that somebody is unknown nor that a record is missing', async () => {
    const id = await made('Lost');
    await cut();
    await tenant.admin.post(GROUPS, { name: 'After' });
    for (const path of [`${GROUPS}/${id}`, '/scim/v2/Users', '/scim/v2/Nothing', '/api/v1/admin/nothing'])
      expect([path, (await app.as('nobody').get(path)).status]).toEqual([path, 503]);
    const asked = { grant_type: 'client_credentials', client_id: id, client_secret: 'wrong' };
    expect((await app.anonymous.post('/oauth/token', asked)).status).toBe(503);
  });

  it('is logged in one line for each refused write, without a stack', async () => {
    await made('Lost');
    await cut();
    for (let n = 0; n < 2; n += 1) await tenant.admin.post(GROUPS, { name: `After ${n}` });
    const refusals = lines.filter(({ msg }) => msg === 'request failed');
    expect(refusals).toHaveLength(2);
    expect(refusals.map(({ level, err }) => [level, err])).toEqual([
      [40, { type: 'FailureError', message: 'service unavailable' }],
      [40, { type: 'LogNotTrusted', message: expect.stringMatching(/^the event log cannot be trusted: /) }],
    ]);
  });
});
