import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeProvisionedEmployee } from '../../../../commands/employees/change-provisioned-employee.ts';
import {
  provisionEmployee,
  type ProvisionEmployee,
  type Provisioned,
} from '../../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../../commands/employees/unprovision-employee.ts';
import {
  countProvisionedPeople,
  findProvisionedPerson,
  getProvisionedPerson,
  listProvisionedPeople,
} from '../../../../queries/employees/provisioned-people.ts';
import type { ProvisionedPerson, ProvisioningSource } from '../../../../src/contexts/employees/domain/provisioning.ts';
import { LATECOMERS_MS, releaseProvisionedPeople } from '../../../../src/contexts/employees/release-people.ts';
import { BULK_MS } from '../../../../src/app/http/request-deadline.ts';
import { provisionPerson } from '../../../../src/contexts/employees/provision-person.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import type { AnyCommand } from '../../../../src/platform/kernel/command.ts';
import { isFailure, orThrow } from '../../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const USERS = '/api/v1/admin/users';
let app: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  app = await sharedApp();
  tenant = await app.newTenant();
});
afterAll(() => app.close());

const scimClient = (): ProvisioningSource => ({ kind: 'scim', id: randomUUID() });
const directory = (): ProvisioningSource => ({ kind: 'directory', id: randomUUID() });
function somebody(over: Partial<ProvisionedPerson> = {}): ProvisionedPerson {
  const userName = `u${randomUUID().slice(0, 8)}`;
  return {
    userName,
    externalId: randomUUID(),
    email: `${userName}@acme.example`,
    displayName: `Name of ${userName}`,
    department: 'Research',
    jobTitle: null,
    isActive: true,
    upn: null,
    sid: null,
    profile: {
      name: { givenName: 'Given', familyName: 'Family' },
      emails: [{ value: `Also-${userName}@Acme.example` }],
    },
    ...over,
  };
}

const execute = <Result>(command: AnyCommand, input: unknown, on = tenant): Promise<Result> =>
  app.services.executor
    .execute(command, input as never, { tenantId: on.tenantId, actor: system('test') })
    .then((outcome) => orThrow(outcome).result as Result);
const provision = (source: ProvisioningSource, person: ProvisionedPerson, over: Partial<ProvisionEmployee> = {}) =>
  provisionPerson(
    { claimHolders: app.services.ports.claimHolders, accountDigest: app.services.accountDigest },
    tenant.tenantId,
    { userId: randomUUID(), source, person, ifLinked: 'refuse', ...over },
    (command) => execute<Provisioned>(provisionEmployee, command),
  );
const change = (userId: string, source: ProvisioningSource, person: ProvisionedPerson, ifVersion?: number) =>
  execute<{ version: number; changed: boolean }>(changeProvisionedEmployee, { userId, source, person, ifVersion });
const shown = async (userId: string) => {
  await app.settled();
  return (await tenant.admin.get(`${USERS}/${userId}`)).body;
};
const reads = () => app.services.reads(tenant.tenantId);

describe('a person whom a SCIM client creates', () => {
  it('is an employee with a source and fields that it owns (F277)', async () => {
    const [source, person] = [scimClient(), somebody()];
    const { userId, outcome } = await provision(source, person);
    expect(outcome).toBe('created');
    expect(await shown(userId)).toMatchObject({
      email: person.email,
      source: 'scim',
      externalId: person.externalId,
      sources: [source],
      ownedFields: ['email', 'displayName', 'department', 'externalId', 'status'].map((field) => ({ field, source })),
    });
  });

  it('exists once, however many requests create them at once', async () => {
    const [source, person] = [scimClient(), somebody()];
    const answers = await Promise.allSettled(
      Array.from({ length: 200 }, () => provision(source, { ...person, externalId: null })),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refusals).toHaveLength(199);
    expect(new Set(refusals.map(({ message }) => message))).toEqual(new Set(['already exists']));
    await app.settled();
    expect((await tenant.admin.get(`${USERS}?search=${person.userName}`)).body.total).toBe(1);
  });

  it('can be found by every name, and listed in a stable order', async () => {
    const source = scimClient();
    const people = [somebody(), somebody(), somebody()];
    for (const person of people) await provision(source, person);
    await app.settled();
    const [first] = people as [ProvisionedPerson, ...ProvisionedPerson[]];
    for (const by of [
      { externalId: first.externalId! },
      { userName: first.userName.toUpperCase() },
      { email: first.email.toUpperCase() },
    ])
      expect(orThrow(await findProvisionedPerson(reads(), { source, ...by }))).toMatchObject({
        user_name: first.userName,
        given_name: 'Given',
        emails_folded: [first.email, `also-${first.email}`],
        version: 1,
      });
    expect(await countProvisionedPeople(reads(), { source })).toBe(3);
    const page = orThrow(await listProvisionedPeople(reads(), { source, limit: 2 }));
    const after = { createdAt: page[1]!.created_at, userId: page[1]!.user_id };
    const next = orThrow(await listProvisionedPeople(reads(), { source, limit: 2, after }));
    expect([...page, ...next].map(({ user_name }) => user_name).toSorted()).toEqual(
      people.map(({ userName }) => userName).toSorted(),
    );
    const other = await app.newTenant();
    expect(
      isFailure(
        await findProvisionedPerson(app.services.reads(other.tenantId), {
          source,
          userName: first.userName,
        }),
      ),
    ).toBe(true);
  });
});

describe('a person whom a removed SCIM client still created, by a request that was under way', () => {
  it('is free again once such requests have ended, for another client and for administrators', async () => {
    const source = scimClient();
    const enqueued: { data: unknown; delayMs: number | undefined }[] = [];
    const { executor, freshness, store } = app.services;
    const releasing = releaseProvisionedPeople({
      executor,
      freshness,
      reads: app.services.reads,
      head: () => store.head(),
      jobs: () => ({
        enqueue: async (_job, data, options) => void enqueued.push({ data, delayMs: options?.delayMs }),
      }),
    });
    const run = (isLast: boolean) =>
      releasing.handle({ tenantId: tenant.tenantId, kind: 'scim', sourceId: source.id, isLast }, {
        correlationId: randomUUID(),
        signal: new AbortController().signal,
      } as never);
    await run(false);
    const { userId } = await provision(source, somebody());
    expect(enqueued).toEqual([
      {
        data: { tenantId: tenant.tenantId, kind: 'scim', sourceId: source.id, isLast: true },
        delayMs: LATECOMERS_MS,
      },
    ]);
    expect(LATECOMERS_MS).toBeGreaterThan(BULK_MS);
    await run(true);
    expect(enqueued.length).toBe(1);
    expect((await tenant.admin.put(`${USERS}/${userId}`, { displayName: 'By hand' })).status).toBe(200);
  });
});

describe('an employee who existed before', () => {
  it('is linked by the e-mail, once per kind of source (F275)', async () => {
    const person = somebody();
    const { body } = await tenant.admin.post(USERS, { email: person.email, displayName: 'By hand', jobTitle: 'Lead' });
    const source = scimClient();
    expect(await provision(source, person)).toMatchObject({ userId: body.id, outcome: 'linked' });
    await expect(provision(scimClient(), somebody({ email: person.email }))).rejects.toThrow('is owned by SCIM client');
    await expect(provision(source, person)).rejects.toThrow('already exists');
    const fromDirectory = somebody({ email: person.email, jobTitle: 'Engineer', displayName: 'In the directory' });
    expect(await provision(directory(), fromDirectory, { ifLinked: 'update' })).toMatchObject({ outcome: 'linked' });
    expect(await shown(body.id)).toMatchObject({
      displayName: person.displayName,
      jobTitle: 'Engineer',
      source: 'manual',
      sources: [{ kind: 'scim' }, { kind: 'directory' }],
    });
  });

  it('is changed by the owner of a field only', async () => {
    const [source, person] = [scimClient(), somebody()];
    const { userId } = await provision(source, person);
    await shown(userId);
    const refused = await tenant.admin.put(`${USERS}/${userId}`, { displayName: 'By hand', department: 'Sales' });
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        code: 'owned_by_source',
        fields: [
          { field: 'displayName', message: `is owned by SCIM client ${source.id}` },
          { field: 'department', message: `is owned by SCIM client ${source.id}` },
        ],
      },
    ]);
    expect((await tenant.admin.put(`${USERS}/${userId}`, { status: 'inactive' })).status).toBe(409);
    expect((await tenant.admin.put(`${USERS}/${userId}`, { jobTitle: 'Lead' })).body.jobTitle).toBe('Lead');
    const form = new FormData();
    const file = `email,displayName,department,jobTitle\n${person.email},By file,,\n`;
    form.append('file', new Blob([file]), 'people.csv');
    const headers = { authorization: `Bearer ${tenant.token}` };
    const imported = await fetch(`${app.url}${USERS}/import`, { method: 'POST', headers, body: form });
    expect(await imported.json()).toMatchObject({
      updated: 0,
      errors: [{ row: 2, error: expect.stringContaining(source.id) }],
    });
  });
});

describe('a source', () => {
  it('changes a person at the version that it knows', async () => {
    const [source, person] = [scimClient(), somebody()];
    const { userId, version } = await provision(source, person);
    const next = { ...person, displayName: 'Married', userName: `${person.userName}2` };
    expect(await change(userId, source, next, version)).toEqual({ version: version + 1, changed: true });
    expect(await change(userId, source, next)).toEqual({ version: version + 1, changed: false });
    await expect(change(userId, source, person, version)).rejects.toMatchObject({ failure: { kind: 'stale' } });
    await expect(change(userId, scimClient(), person)).rejects.toMatchObject({ failure: { kind: 'notFound' } });
    await app.settled();
    expect(orThrow(await getProvisionedPerson(reads(), { source, userId }))).toMatchObject({
      user_name: next.userName,
      version: version + 1,
    });
    expect(await provision(source, somebody({ userName: person.userName }))).toMatchObject({ outcome: 'created' });
  });

  it('lets a person go, who stays in the list, and takes them back', async () => {
    const [source, person] = [scimClient(), somebody()];
    const { userId } = await provision(source, person);
    await execute(unprovisionEmployee, { userId, source, how: 'deactivate' });
    expect(await shown(userId)).toMatchObject({ status: 'inactive', sources: [], ownedFields: [] });
    expect(isFailure(await getProvisionedPerson(reads(), { source, userId }))).toBe(true);
    expect(await provision(source, person)).toMatchObject({ userId, outcome: 'linked', version: 2 });
    expect(await shown(userId)).toMatchObject({ status: 'pending', sources: [source] });
  });

  it('loses a person whom an administrator deletes or erases', async () => {
    const source = scimClient();
    for (const query of ['', '?erase=true']) {
      const person = somebody();
      const { userId } = await provision(source, person);
      await app.settled();
      expect((await tenant.admin.delete(`${USERS}/${userId}${query}`)).status).toBe(204);
      await app.settled();
      expect(isFailure(await getProvisionedPerson(reads(), { source, userId }))).toBe(true);
      await expect(change(userId, source, person)).rejects.toMatchObject({ failure: { kind: 'notFound' } });
      expect((await provision(source, person)).outcome).toBe('created');
    }
  });
});
