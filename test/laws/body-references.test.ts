import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { jsonSchema } from '../../src/app/http/openapi/json-schema.ts';
import { startApp, type TestApp, type TestResponse, type TestTenant } from '../dsl/app.ts';
import { bodyFields, type JsonSchema } from '../dsl/body-fields.ts';
import { enrolledDevice } from '../dsl/enrolled-device.ts';
import { newAlert } from '../dsl/notified.ts';
import { NO_REFERENCES, REFERENCES, type Records } from './body-references.ts';
import { everyRoute, named } from './every-route.ts';

const BASE = '/api/v1/admin';

const isId = (schema: JsonSchema): boolean =>
  schema.format === 'uuid' || (schema.anyOf ?? []).some(isId) || (schema.items !== undefined && isId(schema.items));

/** Fields of bodies that hold ids, by their schema or by their name. */
const idFields = everyRoute.flatMap((route) => {
  if (route.method === 'GET' || route.body === undefined) return [];
  const root = jsonSchema(route.body as z.ZodType, 'input') as JsonSchema & {
    readonly $defs?: Readonly<Record<string, JsonSchema>>;
  };
  return bodyFields(root, (ref) => root.$defs?.[ref.split('/').at(-1)!] ?? {})
    .filter(({ name, schema }) => isId(schema) || /(?:^id|Id|_id|Ids|_ids|^sid)$/.test(name.split('.').at(-1)!))
    .map(({ name }) => `${named(route)} ${name}`);
});

describe('an id in a body', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let own: Records;
  let foreign: Records;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    own = await recordsOf(tenant);
    foreign = await recordsOf(await app.newTenant());
    await app.settled();
  });
  afterAll(() => app.close());

  async function recordsOf(of: TestTenant): Promise<Records> {
    const made = async (path: string, body: object): Promise<TestResponse['body']> => {
      const response = await of.admin.post(`${BASE}/${path}`, body);
      expect([path, response.status < 300 || response.text]).toEqual([path, true]);
      return response.body;
    };
    const rules = [{ domainMatch: { type: 'wildcard', value: '*' }, condition: 'any', action: 'warn' }];
    const device = await enrolledDevice(app, of);
    device.client.close();
    const [alert, resolvedAlert] = [await newAlert(app, of), await newAlert(app, of)];
    await app.settled();
    const resolution = { status: 'resolved', resolution: 'seen' };
    const resolved = await of.admin.put(`${BASE}/alerts/${resolvedAlert}/resolve`, resolution);
    expect([resolved.status, resolved.text]).toEqual([200, expect.anything()]);
    return {
      alert,
      resolvedAlert,
      device: device.deviceId,
      administrator: of.adminId,
      employee: (await made('users', { email: `${randomUUID()}@acme.example`, displayName: 'Ann' })).id,
      enrollmentBatch: (await made('enrollment/bulk-config', { count: 1 })).batchId,
      group: (await made('groups', { name: 'Sales' })).id,
      onCallSchedule: (await made('on-call/schedules', { name: 'Primary', participants: [of.adminId] })).id,
      policy: (await made('policies', { name: 'Warn', rules })).id,
      pushRule: (await made('alert-notifications/push-rules', { name: 'All' })).id,
      rollout: (
        await made('extension-rollouts', { version: '2.0.9', stages: [{ percent: 1 }, { percent: 2 }, { percent: 3 }] })
      ).id,
    };
  }

  const history = async () =>
    (
      await app.services.database.owner.query<{ id: string }>(
        `select id from events where type not like 'AuditHead%' order by position`,
      )
    ).rows.map(({ id }) => id);

  it('names a record, or is listed with the reason why it names none', () => {
    const undeclared = idFields.filter(
      (field) => !(field in REFERENCES) && !NO_REFERENCES.some(([pattern]) => pattern.test(field)),
    );
    expect(undeclared, 'add them to `REFERENCES` or `NO_REFERENCES` in test/laws/body-references.ts').toEqual([]);
    expect(Object.keys(REFERENCES).filter((field) => !idFields.includes(field))).toEqual([]);
    expect(NO_REFERENCES.filter(([pattern]) => !idFields.some((field) => pattern.test(field)))).toEqual([]);
  });

  describe.each(Object.entries(REFERENCES))('%s', (field, { names, request }) => {
    const [method, , name] = field.split(' ') as ['POST' | 'PUT', string, string];
    const send = (id: string) => {
      const { path, body } = request(id, own);
      return tenant.admin.send(method, path, { body });
    };

    it.each([
      ['unknown', () => randomUUID()],
      ['of another tenant', () => foreign[names]],
    ])('is refused by the name of its field if it is %s, and nothing is written', async (_which, id) => {
      await app.settled();
      const before = await history();
      const { status, body } = await send(id());
      expect([400, 404]).toContain(status);
      expect(body.fields).toEqual([expect.objectContaining({ field: expect.stringMatching(isNamed(name)) })]);
      await app.settled();
      expect(await history()).toEqual(before);
    });

    it('is taken if it names a record of the tenant', async () => {
      expect((await send(own[names])).status).toBeLessThan(300);
    });
  });
});

/** The field itself, or its element. `userId` may be refused as `userIds`: the body takes either. */
const isNamed = (name: string): RegExp => new RegExp(`^${name.replaceAll('.', '\\.')}s?(?:\\.0)?$`);
