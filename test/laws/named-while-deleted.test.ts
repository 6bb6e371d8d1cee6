import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { startStandIn } from '../fixtures/eventstoredb/stand-in.ts';
import { DELETIONS, REFERENCES, type Records, type Referenced } from './body-references.ts';

const BASE = '/api/v1/admin';
const ROUNDS = 4;

const refused = Object.values(DELETIONS)
  .filter(({ deletion }) => deletion === 'refused')
  .flatMap(({ fields }) => Object.keys(REFERENCES).filter((field) => fields.some((pattern) => pattern.test(field))));

/** A new record that may be named, and where it is deleted. */
const NEW: Readonly<Partial<Record<Referenced, (tenant: TestTenant, name: string) => readonly [string, object]>>> = {
  group: (_tenant, name) => [`${BASE}/groups`, { name }],
  onCallSchedule: ({ adminId }, name) => [`${BASE}/on-call/schedules`, { name, participants: [adminId] }],
};

/** OP-438 and OP-591. */
describe.each(['PostgreSQL', 'EventStoreDB'] as const)('on %s, a record that is named while it is deleted', (store) => {
  let app: TestApp;
  let tenant: TestTenant;
  let own: Records;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const node = store === 'EventStoreDB' ? await startStandIn() : undefined;
    if (node) closers.push(() => node.stop());
    app = await startApp(node ? { eventStoreUrl: node.connectionString } : {});
    tenant = await app.newTenant();
    const made = async (path: string, body: object) => (await tenant.admin.post(`${BASE}/${path}`, body)).body.id;
    const rules = [{ domainMatch: { type: 'wildcard', value: '*' }, condition: 'any', action: 'warn' }];
    const stages = [{ percent: 1 }, { percent: 2 }, { percent: 3 }];
    own = {
      policy: await made('policies', { name: 'Warn', rules }),
      pushRule: await made('alert-notifications/push-rules', { name: 'All' }),
      rollout: await made('extension-rollouts', { version: '2.0.9', stages }),
    } as Records;
  });
  afterAll(async () => {
    await app.close();
    for (const close of closers) await close();
  });

  it.each([...refused, 'POST /api/v1/admin/groups/{groupID}/policies'])(
    'is either named or deleted: %s',
    async (field) => {
      const { names, request } = REFERENCES[field] ?? {
        names: 'group' as const,
        request: (id: string) => ({ path: `${BASE}/groups/${id}/policies`, body: { policyId: own.policy } }),
      };
      let decided = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const [path, body] = NEW[names]!(tenant, `${field} ${round}`.slice(-90));
        const { body: made } = await tenant.admin.post(path, body);
        const naming = request(made.id, own);
        const remove = () => tenant.admin.delete(`${path}/${made.id}`);
        const name = () => tenant.admin.send(field.split(' ')[0] as 'POST' | 'PUT', naming.path, { body: naming.body });
        const [deleted, named] =
          round % 2 === 0
            ? await Promise.all([remove(), name()])
            : await Promise.all([name(), remove()]).then(([a, b]) => [b, a] as const);
        // A loaded machine may decide neither in time, or not show the new record yet. What counts is that it never decides both.
        const isNamed = named.status < 300;
        expect([deleted.status === 204 && isNamed, deleted.status, named.status]).toEqual([
          false,
          deleted.status,
          named.status,
        ]);
        // Whoever comes second is refused, in words that are true.
        const isDecided = [204, 409].includes(deleted.status) && named.status < 429;
        if (isDecided) expect(isNamed ? [409] : [400, 404]).toContain(isNamed ? deleted.status : named.status);
        if (isDecided) decided += 1;
      }
      expect(decided).toBeGreaterThan(0);
    },
  );
});
