import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { deleteEmployee } from '../../../commands/employees/delete-employee.ts';
import { unprovisionEmployee } from '../../../commands/employees/unprovision-employee.ts';
import { changeProvisionedGroup } from '../../../commands/groups/change-provisioned-group.ts';
import { createGroup } from '../../../commands/groups/create-group.ts';
import { areKnown, type ExternalIds } from '../../../commands/groups/group-members.ts';
import { employee } from '../../../src/contexts/employees/domain/employee.ts';
import type { ProvisioningSource } from '../../../src/contexts/employees/domain/provisioning.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { isFailure, orThrow } from '../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { provisionedPerson } from '../../dsl/provisioned-person.ts';

let app: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  app = await sharedApp();
  tenant = await app.newTenant();
});
afterAll(() => app.close());

const execution = () => ({ tenantId: tenant.tenantId, actor: system('test') });
const newSource = (): ProvisioningSource => ({ kind: 'directory', id: randomUUID() });
const linked = async (source: ProvisioningSource, of = tenant) => {
  const { userId, person } = await provisionedPerson(app, of, {}, source);
  return { userId, externalId: person.externalId! };
};
const externalIdsOf = (...people: readonly { userId: string; externalId: string }[]): ExternalIds =>
  new Map(people.map(({ userId, externalId }) => [userId, externalId]));

/** A group of the source with these members; the message of the refusal if there is one. */
async function created(owner: ProvisioningSource, externalIds: ExternalIds): Promise<string | undefined> {
  const group = { name: `Group ${randomUUID()}`, description: '', owner, externalId: null };
  const input = { ...group, userIds: [...externalIds.keys()], externalIds };
  const outcome = await app.services.executor.execute(createGroup, input, execution());
  return isFailure(outcome) ? outcome.message : undefined;
}
const REFUSED = expect.stringContaining('contains an id that is not a user of this source') as string;

describe('members that a source names with their external ids', () => {
  it('are people whom it has linked, and nobody else', async () => {
    const source = newSource();
    const [ann, bob, ofAnother] = [await linked(source), await linked(source), await linked(newSource())];
    const foreign = await linked(source, await app.newTenant());
    expect(await created(source, externalIdsOf(ann, bob))).toBeUndefined();
    for (const stranger of [
      ofAnother,
      foreign,
      { userId: randomUUID(), externalId: 'X-nobody' },
      // Somebody else's external id proves nothing.
      { userId: randomUUID(), externalId: bob.externalId },
    ])
      expect(await created(source, externalIdsOf(ann, stranger))).toEqual(REFUSED);
  });

  it('are members also if the external ids are wrong', async () => {
    const source = newSource();
    const [ann, bob] = [await linked(source), await linked(source)];
    const mistaken = externalIdsOf({ ...ann, externalId: bob.externalId }, { ...bob, externalId: 'X-nobody' });
    expect(await created(source, mistaken)).toBeUndefined();
  });

  it('are linked now: whoever was deleted or released before is refused', async () => {
    const source = newSource();
    const [deleted, released] = [await linked(source), await linked(source)];
    const { executor } = app.services;
    orThrow(await executor.execute(deleteEmployee, { userId: deleted.userId }, execution()));
    const release = { userId: released.userId, source, how: 'unlink' } as const;
    orThrow(await executor.execute(unprovisionEmployee, release, execution()));
    for (const former of [deleted, released]) expect(await created(source, externalIdsOf(former))).toEqual(REFUSED);
  });

  it('are checked in a change of the whole membership, too', async () => {
    const source = newSource();
    const [ann, stranger] = [await linked(source), await linked(newSource())];
    const group = { name: `Group ${randomUUID()}`, description: '', owner: source, externalId: null };
    const { executor } = app.services;
    const { groupId } = orThrow(await executor.execute(createGroup, group, execution())).result;
    const change = async (externalIds: ExternalIds) => {
      const input = { groupId, source, members: [...externalIds.keys()], externalIds };
      return executor.execute(changeProvisionedGroup, input, execution());
    };
    expect(await change(externalIdsOf(ann, stranger))).toMatchObject({ failed: true, message: REFUSED });
    expect(await change(externalIdsOf(ann))).toMatchObject({ result: { added: 1 } });
  });

  it('need no look at their streams', async () => {
    const source = newSource();
    const people = [await linked(source), await linked(source)];
    const { aggregates, claimHolders } = app.services.ports;
    const loadAll = vi.spyOn(aggregates, 'loadAll');
    const userIds = people.map(({ userId }) => userId);
    const members = { groupId: randomUUID(), owner: source, userIds };
    const check = (externalIds?: ExternalIds) =>
      areKnown({ aggregates, claimHolders }, tenant.tenantId, { ...members, externalIds });
    expect(await check(externalIdsOf(...people))).toBe(true);
    expect(loadAll.mock.calls.filter(([of]) => of === employee)).toEqual([]);
    expect(await check()).toBe(true);
    expect(loadAll.mock.calls.filter(([of]) => of === employee)).toHaveLength(1);
    loadAll.mockRestore();
  });
});
