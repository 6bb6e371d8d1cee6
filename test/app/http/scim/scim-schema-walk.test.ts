import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupType } from '../../../../src/contexts/scim/domain/group-schema.ts';
import type { ScimAttribute } from '../../../../src/contexts/scim/domain/schema.ts';
import { userType } from '../../../../src/contexts/scim/domain/user-schema.ts';
import { sharedApp, type Client, type TestApp } from '../../../dsl/app.ts';
import {
  GROUP_SCHEMA,
  newScimClient,
  patchBody,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

/** An attribute of a schema, by the path of a PATCH and the steps to its value. */
interface Walked {
  readonly path: string;
  readonly steps: readonly string[];
  readonly attribute: ScimAttribute;
}

const isWritable = ({ mutability }: ScimAttribute) => mutability === 'readWrite';
const walked: readonly Walked[] = [userType.schema, ...userType.extensions].flatMap((schema) =>
  schema.attributes.filter(isWritable).flatMap((attribute) => {
    const isCore = schema === userType.schema;
    const path = isCore ? attribute.name : `${schema.id}:${attribute.name}`;
    const steps = [...(isCore ? [] : [schema.id]), attribute.name];
    const subs = attribute.multiValued ? [] : (attribute.subAttributes ?? []).filter(isWritable);
    return [
      { path, steps, attribute },
      ...subs.map((sub) => ({ path: `${path}.${sub.name}`, steps: [...steps, sub.name], attribute: sub })),
    ];
  }),
);

const PLAIN: Readonly<Record<string, (n: number) => unknown>> = {
  boolean: (n) => n === 1,
  reference: (n) => `https://pictures.example/${n}`,
  binary: (n) => Buffer.from(`bytes ${n}`).toString('base64'),
};

function valueOf(attribute: ScimAttribute, n: number): unknown {
  const { name, type, multiValued, canonicalValues, subAttributes = [] } = attribute;
  if (multiValued) return [valueOf({ ...attribute, multiValued: false }, n)];
  if (type === 'complex')
    return Object.fromEntries(subAttributes.filter(isWritable).map((sub) => [sub.name, valueOf(sub, n)]));
  if (canonicalValues) return canonicalValues[n % canonicalValues.length];
  return PLAIN[type]?.(n) ?? `${name}${n}@acme.example`;
}

const at = (resource: unknown, steps: readonly string[]): unknown =>
  steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], resource);

/** What the suite of python-scim/scim2-tester does: every attribute that the schemas announce, with every operation. */
describe('every attribute of the schemas', () => {
  let app: TestApp;
  let scim: Client;
  beforeAll(async () => {
    app = await sharedApp();
    scim = await scimAs(app, await newScimClient(await app.newTenant()));
  });
  afterAll(() => app.close());

  it.each(walked.map((each) => [each.path, each] as const))(
    '%s is added, replaced and removed by PATCH',
    async (path, { steps, attribute }) => {
      const userName = `u${crypto.randomUUID()}@acme.example`;
      const made = await scim.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName });
      const user = `${SCIM_USERS}/${made.body.id as string}`;
      for (const [op, n] of [
        ['add', 1],
        ['replace', 2],
      ] as const) {
        const value = valueOf(attribute, n);
        const { status, body } = await scim.send('PATCH', user, patchBody({ op, path, value }));
        expect([op, status, at(body, steps)]).toMatchObject([op, 200, value]);
        expect(at((await scim.get(user)).body, steps)).toMatchObject(value as object);
      }
      const removed = await scim.send('PATCH', user, patchBody({ op: 'remove', path }));
      if (attribute.required || path === 'active') return expect([200, 400]).toContain(removed.status);
      expect([removed.status, at(removed.body, steps)]).toEqual([200, undefined]);
    },
  );

  it('a group has them as well', async () => {
    const member = await scim.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName: 'member@acme.example' });
    const made = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Walked' });
    const group = `${SCIM_GROUPS}/${made.body.id as string}`;
    const value = [{ value: member.body.id }];
    expect(groupType.schema.attributes.map(({ name }) => name)).toEqual(['displayName', 'members']);
    for (const [op, path, given] of [
      ['add', 'members', value],
      ['replace', 'members', value],
      ['replace', 'displayName', 'Renamed'],
    ] as const) {
      const { status, body } = await scim.send('PATCH', group, patchBody({ op, path, value: given }));
      expect([status, body]).toMatchObject([200, { [path]: given }]);
    }
    const removed = await scim.send('PATCH', group, patchBody({ op: 'remove', path: 'members' }));
    expect([removed.status, removed.body.members]).toEqual([200, undefined]);
  });
});
