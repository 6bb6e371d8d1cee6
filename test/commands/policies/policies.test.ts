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
/** All named groups exist. */
const none = { unknownGroups: [] };
const created: PolicyEvent = { type: 'PolicyCreated', data: { policyId, ...content } };

describe('CreatePolicy', () => {
  it('claims the name, case-folded, with the policy', () => {
    const outcome = given().when(createPolicy, content, none);
    outcome.then(created);
    outcome.thenTakes({ kind: 'policy-name', value: 'no reuse' });
  });

  it('is refused for an unknown group', () => {
    given()
      .when(createPolicy, { ...content, groupIds: [policyId] }, { unknownGroups: [policyId] })
      .thenRefused('invalid');
  });

  it('has no effect when the same command is sent again', () => {
    given(created).when(createPolicy, content, none).thenNothing();
  });
});

describe('AttachPolicy', () => {
  it('rejects more groups than a policy may name, since every event names all of them', () => {
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
  it('records the complete new policy', () => {
    given(created)
      .when(updatePolicy, { policyId, changes: { priority: 5 } }, none)
      .then({ type: 'PolicyUpdated', data: { policyId, ...content, priority: 5 } });
  });

  it('may keep naming a deleted group, but not add one', () => {
    const [gone, other] = [policyId, '44444444-4444-4444-8444-444444444444'];
    const named: PolicyEvent = { type: 'PolicyCreated', data: { policyId, ...content, groupIds: [gone] } };
    given(named)
      .when(updatePolicy, { policyId, changes: { groupIds: [gone], priority: 5 } }, { unknownGroups: [gone] })
      .thenTypes('PolicyUpdated');
    given(named)
      .when(updatePolicy, { policyId, changes: { groupIds: [other] } }, { unknownGroups: [other] })
      .thenRefused('invalid');
  });

  it('records nothing if nothing changes', () => {
    given(created)
      .when(updatePolicy, { policyId, changes: { ...content, name: undefined } }, none)
      .thenNothing();
  });

  it('claims a new name and releases the old one, but not for another case of the same', () => {
    const renamed = given(created).when(updatePolicy, { policyId, changes: { name: 'Never twice' } }, none);
    renamed.thenTakes({ kind: 'policy-name', value: 'never twice' });
    renamed.thenReleases({ kind: 'policy-name', value: 'no reuse' });
    const respelled = given(created).when(updatePolicy, { policyId, changes: { name: 'NO REUSE' } }, none);
    respelled.thenTypes('PolicyUpdated');
    respelled.thenTakes();
    respelled.thenReleases();
  });

  it('fails for a policy that never existed or was deleted', () => {
    given()
      .when(updatePolicy, { policyId, changes: { priority: 5 } }, none)
      .thenRefused('notFound');
    given(created, { type: 'PolicyDeleted', data: { policyId } })
      .when(updatePolicy, { policyId, changes: { priority: 5 } }, none)
      .thenRefused('notFound');
  });
});

describe('DeletePolicy', () => {
  it('releases the current name of the policy', () => {
    const outcome = given(created, { type: 'PolicyUpdated', data: { policyId, ...content, name: 'Never twice' } }).when(
      deletePolicy,
      { policyId },
    );
    outcome.then({ type: 'PolicyDeleted', data: { policyId } });
    outcome.thenReleases({ kind: 'policy-name', value: 'never twice' });
  });

  it('fails for a policy that never existed or was deleted', () => {
    given().when(deletePolicy, { policyId }).thenRefused('notFound');
    given(created, { type: 'PolicyDeleted', data: { policyId } })
      .when(deletePolicy, { policyId })
      .thenRefused('notFound');
  });
});

describe('the policies table', () => {
  it('counts the changes of a policy, keeps its creator, and removes it when it is deleted', () => {
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
