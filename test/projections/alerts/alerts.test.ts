import { expect, it } from 'vitest';
import { alerts } from '../../../projections/alerts/alerts.ts';
import { history, recorded, rowsAfter } from '../../dsl/given.ts';

const alertId = '0198a000-0000-7000-8000-000000000001';
const fingerprint = 'f';
const unknownMove = { userId: null, was: null, is: null };
const life = history(
  {
    type: 'AlertRaised',
    data: {
      alertId,
      alertType: 'password_reuse',
      severity: 'medium',
      title: 'Password reuse',
      description: '',
      fingerprint,
      userId: null,
      deviceId: null,
      domain: 'shop.example.com',
      url: null,
      cause: 'c0000000-0000-4000-8000-000000000001',
      metadata: {},
      raisedAt: null,
    },
  },
  { type: 'AlertAcknowledged', data: { alertId, notes: 'first look', ...unknownMove } },
  { type: 'AlertAcknowledged', data: { alertId, notes: null, ...unknownMove } },
  {
    type: 'AlertRepeated',
    data: {
      alertId,
      cause: 'c0000000-0000-4000-8000-000000000002',
      occurrences: 1,
      occurredAt: '2026-06-01T12:00:00.000Z',
    },
  },
  { type: 'AlertResolved', data: { alertId, status: 'resolved', resolution: 'done', fingerprint, ...unknownMove } },
  { type: 'AlertPolicyActionRecorded', data: { alertId, action: 'skipped', policyId: null, policyName: null } },
);

it('keeps the first acknowledgment, the notes, every occurrence and the last resolution', () => {
  const [row] = rowsAfter(alerts, life);
  expect(row).toMatchObject({
    status: 'resolved',
    notes: 'first look',
    occurrence_count: 2,
    resolution: 'done',
    acknowledged_at: new Date(life[1]!.recordedAt).toISOString(),
    resolved_at: new Date(life[4]!.recordedAt).toISOString(),
    policy_action: { action: 'skipped' },
  });
});

it('clears resolution, acknowledgment and policy action when an alert is reopened, and keeps notes and assignee', () => {
  const reopened = recorded({ type: 'AlertReopened', data: { alertId, notes: null, fingerprint, ...unknownMove } }, 8);
  const assigned = recorded(
    { type: 'AlertAssigned', data: { alertId, assigneeId: '0198a000-0000-7000-8000-000000000002' } },
    7,
  );
  const [row] = rowsAfter(alerts, [...life, assigned, reopened]);
  expect(row).toMatchObject({
    status: 'open',
    notes: 'first look',
    assigned_to: '0198a000-0000-7000-8000-000000000002',
    resolution: null,
    resolved_at: null,
    resolved_by: null,
    acknowledged_at: null,
    acknowledged_by: null,
    policy_action: null,
  });
});

it.each([1, 2, 3, 5])('folds to the same table in batches of %i', (size) => {
  expect(rowsAfter(alerts, life, size)).toEqual(rowsAfter(alerts, life));
});

it('ignores an alert that was never raised', () => {
  expect(rowsAfter(alerts, life.slice(1))).toEqual([]);
});
