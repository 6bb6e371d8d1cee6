import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { jsonSchema } from '../../src/app/http/openapi/json-schema.ts';
import { startApp, type TestApp, type TestResponse, type TestTenant } from '../dsl/app.ts';
import { bodyFields, type JsonSchema } from '../dsl/body-fields.ts';
import { enrolledDevice } from '../dsl/enrolled-device.ts';
import { newAlert } from '../dsl/notified.ts';
import { DELETIONS, NO_REFERENCES, REFERENCES, type Records } from './body-references.ts';
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

async function recordsOf(
  app: TestApp,
  of: TestTenant,
): Promise<{ readonly tenant: TestTenant; readonly records: Records }> {
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
  const records = {
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
  return { tenant: of, records };
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('an id in a body', () => {
  let tenant: TestTenant;
  let own: Records;
  let foreign: Records;
  beforeAll(async () => {
    tenant = await app.newTenant();
    own = (await recordsOf(app, tenant)).records;
    foreign = (await recordsOf(app, await app.newTenant())).records;
    await app.settled();
  });

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

const PATHS: Readonly<Record<string, string>> = { group: 'groups', onCallSchedule: 'on-call/schedules' };

/** OP-438. */
describe('a record that others name', () => {
  it('has a decision for each stored reference', () => {
    const decisions = (field: string) =>
      Object.values(DELETIONS).filter(({ fields }) => fields.some((pattern) => pattern.test(field)));
    expect(
      Object.keys(REFERENCES).filter((field) => decisions(field).length !== 1),
      'state in `DELETIONS` of test/laws/body-references.ts what becomes of the reference when its record is deleted',
    ).toEqual([]);
    const unused = Object.values(DELETIONS).flatMap(({ fields }) =>
      fields.filter((pattern) => !Object.keys(REFERENCES).some((field) => pattern.test(field))),
    );
    expect(unused).toEqual([]);
  });

  const refused = Object.values(DELETIONS)
    .filter(({ deletion }) => deletion === 'refused')
    .flatMap(({ fields }) => Object.keys(REFERENCES).filter((field) => fields.some((pattern) => pattern.test(field))));

  it.each(refused)('is not deleted while %s names it', async (field) => {
    const { names, request } = REFERENCES[field]!;
    const own = await recordsOf(app, await app.newTenant());
    const { admin } = own.tenant;
    const { path, body } = request(own.records[names], own.records);
    const holder = await admin.send(field.split(' ')[0] as 'POST' | 'PUT', path, { body });
    expect([field, holder.status < 300 || holder.text]).toEqual([field, true]);
    const one = `${BASE}/${PATHS[names]}/${own.records[names]}`;
    const { status, body: answer } = await admin.delete(one);
    expect([status, answer.code]).toEqual([409, 'still_named']);
    expect(answer.fields.map((named: { field: string }) => named.field)).toContain(holder.body.id);
    expect((await admin.get(`${BASE}/${PATHS[names]}`)).text).toContain(own.records[names]);
    const freed = await admin.delete(path.includes(holder.body.id) ? path : `${path}/${holder.body.id}`);
    expect(freed.status).toBe(204);
    expect((await admin.delete(one)).status).toBe(204);
  });
});

/** The field itself, or its element. `userId` may be refused as `userIds`: the body takes either. */
const isNamed = (name: string): RegExp => new RegExp(`^${name.replaceAll('.', '\\.')}s?(?:\\.0)?$`);
