import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { attachPolicy } from '../../../commands/policies/attach-policy.ts';
import { createPolicy } from '../../../commands/policies/create-policy.ts';
import { deletePolicy } from '../../../commands/policies/delete-policy.ts';
import { updatePolicy } from '../../../commands/policies/update-policy.ts';
import { policies } from '../../../projections/policies/policies.ts';
import type { PolicyEvent, Rule } from '../../../src/contexts/policies/domain/events.ts';
import { given, recorded, rowsAfter } from '../../dsl/given.ts';

const policyId = '33333333-3333-4333-8333-333333333333';
const rules: Rule[] = [
  { domainMatch: { type: 'wildcard', value: '*.example.com' }, condition: 'password_reuse', action: 'block' },
];
const content = { name: 'No reuse', description: '', priority: 100, isEnabled: true, rules, groupIds: [] };
/** No group was named that is not there. */
const none = { unknownGroups: [] };
const created: PolicyEvent = { type: 'PolicyCreated', data: { policyId, ...content } };

describe('CreatePolicy', () => {
  it('takes the name, folded, with the policy', () => {
    const outcome = given().when(createPolicy, content, none);
    outcome.then(created);
    outcome.thenTakes({ kind: 'policy-name', value: 'no reuse' });
  });

  it('is refused for a group that is not there', () => {
    given()
      .when(createPolicy, { ...content, groupIds: [policyId] }, { unknownGroups: [policyId] })
      .thenRefused('invalid');
  });

  it('is done when the same command comes once more', () => {
    given(created).when(createPolicy, content, none).thenNothing();
  });
});

describe('AttachPolicy', () => {
  it('refuses a group more than a policy may name, since every event names them all', () => {
    const groupIds = Array.from({ length: 1_000 }, () => randomUUID());
    const full: PolicyEvent = { type: 'PolicyCreated', data: { policyId, ...content, groupIds } };
    given(full)
      .when(attachPolicy, { policyId, groupId: randomUUID(), isAttached: true }, { groupExists: true })
      .thenRefused('conflict');
    given(full)
      .when(attachPolicy, { policyId, groupId: groupIds[0]!, isAttached: false }, { groupExists: true })
      .thenTypes('PolicyUpdated');
  });
});

describe('UpdatePolicy', () => {
  it('says the whole policy as it is from now on', () => {
    given(created)
      .when(updatePolicy, { policyId, changes: { priority: 5 } }, none)
      .then({ type: 'PolicyUpdated', data: { policyId, ...content, priority: 5 } });
  });

  it('may go on naming a group that was deleted, but not begin to', () => {
    const [gone, other] = [policyId, '44444444-4444-4444-8444-444444444444'];
    const named: PolicyEvent = { type: 'PolicyCreated', data: { policyId, ...content, groupIds: [gone] } };
    given(named)
      .when(updatePolicy, { policyId, changes: { groupIds: [gone], priority: 5 } }, { unknownGroups: [gone] })
      .thenTypes('PolicyUpdated');
    given(named)
      .when(updatePolicy, { policyId, changes: { groupIds: [other] } }, { unknownGroups: [other] })
      .thenRefused('invalid');
  });

  it('says nothing when everything is as asked', () => {
    given(created)
      .when(updatePolicy, { policyId, changes: { ...content, name: undefined } }, none)
      .thenNothing();
  });

  it('takes a new name and gives up the old one, but not for another spelling of the same', () => {
    const renamed = given(created).when(updatePolicy, { policyId, changes: { name: 'Never twice' } }, none);
    renamed.thenTakes({ kind: 'policy-name', value: 'never twice' });
    renamed.thenReleases({ kind: 'policy-name', value: 'no reuse' });
    const respelled = given(created).when(updatePolicy, { policyId, changes: { name: 'NO REUSE' } }, none);
    respelled.thenTypes('PolicyUpdated');
    respelled.thenTakes();
    respelled.thenReleases();
  });

  it('knows nothing of a policy that was never there, or is gone', () => {
    given()
      .when(updatePolicy, { policyId, changes: { priority: 5 } }, none)
      .thenRefused('notFound');
    given(created, { type: 'PolicyDeleted', data: { policyId } })
      .when(updatePolicy, { policyId, changes: { priority: 5 } }, none)
      .thenRefused('notFound');
  });
});

describe('DeletePolicy', () => {
  it('gives up the name that the policy has now', () => {
    const outcome = given(created, { type: 'PolicyUpdated', data: { policyId, ...content, name: 'Never twice' } }).when(
      deletePolicy,
      { policyId },
    );
    outcome.then({ type: 'PolicyDeleted', data: { policyId } });
    outcome.thenReleases({ kind: 'policy-name', value: 'never twice' });
  });

  it('finds nothing where there is nothing, or no longer', () => {
    given().when(deletePolicy, { policyId }).thenRefused('notFound');
    given(created, { type: 'PolicyDeleted', data: { policyId } })
      .when(deletePolicy, { policyId })
      .thenRefused('notFound');
  });
});

describe('the policies table', () => {
  it('counts the changes of a policy, keeps who made it, and drops it when it is deleted', () => {
    const history = [
      recorded(created, 1),
      recorded({ type: 'PolicyUpdated', data: { policyId, ...content, isEnabled: false } }, 2),
    ];
    expect(rowsAfter(policies, history)).toMatchObject([
      {
        policy_id: policyId,
        is_enabled: false,
        version: 2,
        created_by: '22222222-2222-4222-8222-222222222222',
        created_at: '2026-06-01T12:00:01.000Z',
        updated_at: '2026-06-01T12:00:02.000Z',
      },
    ]);
    expect(rowsAfter(policies, history, 1)).toEqual(rowsAfter(policies, history));
    expect(rowsAfter(policies, [...history, recorded({ type: 'PolicyDeleted', data: { policyId } }, 3)])).toEqual([]);
  });
});
