import { describe, expect, it } from 'vitest';
import { acknowledgeAlert } from '../../../commands/alerts/acknowledge-alert.ts';
import { assignAlert } from '../../../commands/alerts/assign-alert.ts';
import { changeAlertSeverity } from '../../../commands/alerts/change-alert-severity.ts';
import { claimAlert } from '../../../commands/alerts/claim-alert.ts';
import { raiseAlert, type RaiseAlert } from '../../../commands/alerts/raise-alert.ts';
import { recordAlertOccurrence } from '../../../commands/alerts/record-alert-occurrence.ts';
import { recordAlertPolicyAction } from '../../../commands/alerts/record-alert-policy-action.ts';
import { reopenAlert } from '../../../commands/alerts/reopen-alert.ts';
import { resolveAlert } from '../../../commands/alerts/resolve-alert.ts';
import type { AlertEvent } from '../../../src/contexts/alerts/domain/events.ts';
import type { TriageState } from '../../../src/contexts/alerts/domain/triage-state.ts';
import { given, NOW } from '../../dsl/given.ts';

const alertId = '0198a000-0000-7000-8000-000000000001';
const me = '0198a000-0000-7000-8000-000000000002';
const another = '0198a000-0000-7000-8000-000000000003';
const policyId = '0198a000-0000-7000-8000-000000000004';
const fingerprint = 'password_reuse|u|shop.example.com';
const detail: RaiseAlert = {
  alertId,
  alertType: 'password_reuse',
  title: 'Password reuse',
  description: 'The same password on two sites',
  fingerprint,
  userId: null,
  deviceId: null,
  domain: 'shop.example.com',
  url: null,
  cause: 'c0000000-0000-4000-8000-000000000001',
  metadata: {},
};
const at = new Date(NOW).toISOString();
const standing: TriageState = {
  raisedAt: at,
  severity: 'medium',
  status: 'open',
  acknowledgedAt: null,
  resolvedAt: null,
};
const raised: AlertEvent = { type: 'AlertRaised', data: { ...detail, severity: 'medium', raisedAt: at } };
const move = (status: TriageState['status']) => ({ userId: null, was: standing, is: { ...standing, status } });
const acknowledged: AlertEvent = { type: 'AlertAcknowledged', data: { alertId, notes: null, ...move('acknowledged') } };
const resolved: AlertEvent = {
  type: 'AlertResolved',
  data: { alertId, status: 'resolved', resolution: null, fingerprint, ...move('resolved') },
};
const falsePositive: AlertEvent = {
  type: 'AlertResolved',
  data: { alertId, status: 'false_positive', resolution: null, fingerprint, ...move('false_positive') },
};

describe('ResolveAlert', () => {
  it.each([[[]], [[acknowledged]], [[resolved]], [[falsePositive]]])('resolves from any status (%#)', (history) => {
    given(raised, ...history)
      .when(resolveAlert, { alertId, status: 'resolved', resolution: 'password changed' })
      .then({
        type: 'AlertResolved',
        data: expect.objectContaining({ alertId, status: 'resolved', resolution: 'password changed', fingerprint }),
      });
  });
  it('records the previous and the new status', () => {
    given(raised)
      .when(resolveAlert, { alertId, status: 'resolved', resolution: null })
      .then({
        type: 'AlertResolved',
        data: { ...resolved.data, is: { ...standing, status: 'resolved', resolvedAt: at } },
      });
  });
  it('fails for an alert that was never raised', () => {
    given().when(resolveAlert, { alertId, status: 'resolved', resolution: null }).thenRefused('notFound');
  });
});

describe('AcknowledgeAlert', () => {
  it('records notes on open and acknowledged alerts', () => {
    given(raised).when(acknowledgeAlert, { alertId, notes: 'mine' }).thenTypes('AlertAcknowledged');
    given(raised, acknowledged).when(acknowledgeAlert, { alertId, notes: 'more' }).thenTypes('AlertAcknowledged');
  });
  it.each([[resolved], [falsePositive]])('rejects a closed alert (%#)', (end) => {
    given(raised, end).when(acknowledgeAlert, { alertId, notes: null }).thenRefused('conflict');
  });
});

describe('ReopenAlert', () => {
  it.each([[acknowledged], [resolved], [falsePositive]])('reopens any alert that is not open (%#)', (last) => {
    given(raised, last).when(reopenAlert, { alertId, notes: null }).thenTypes('AlertReopened');
  });
  it('rejects an open alert', () => {
    given(raised).when(reopenAlert, { alertId, notes: null }).thenRefused('conflict');
  });
});

describe('ClaimAlert and AssignAlert', () => {
  const claimed: AlertEvent = { type: 'AlertClaimed', data: { alertId, assigneeId: me } };
  it('gives an unassigned alert to the first claimant only', () => {
    given(raised).when(claimAlert, { alertId, adminId: me }).then(claimed);
    given(raised, claimed).when(claimAlert, { alertId, adminId: me }).thenNothing();
    given(raised, claimed).when(claimAlert, { alertId, adminId: another }).thenRefused('conflict');
  });
  it('assigns only to users who may work on alerts, or to nobody', () => {
    given(raised, claimed)
      .when(assignAlert, { alertId, assigneeId: another }, { allowed: true })
      .thenTypes('AlertAssigned');
    given(raised, claimed)
      .when(assignAlert, { alertId, assigneeId: null }, { allowed: true })
      .thenTypes('AlertAssigned');
    given(raised).when(assignAlert, { alertId, assigneeId: another }, { allowed: false }).thenRefused('invalid');
  });
});

describe('ChangeAlertSeverity', () => {
  it('changes to another severity but not to the same', () => {
    given(raised)
      .when(changeAlertSeverity, { alertId, severity: 'high', reason: null })
      .thenTypes('AlertSeverityChanged');
    given(raised).when(changeAlertSeverity, { alertId, severity: 'medium', reason: null }).thenNothing();
  });
});

describe('RecordAlertPolicyAction', () => {
  const known = { exists: true, name: 'Block reuse' };
  it('records for a true positive, with the policy’s stored name where none is sent', () => {
    given(raised, resolved)
      .when(recordAlertPolicyAction, { alertId, action: 'created', policyId, policyName: null }, known)
      .then({
        type: 'AlertPolicyActionRecorded',
        data: { alertId, action: 'created', policyId, policyName: 'Block reuse' },
      });
  });
  it.each([[[]], [[acknowledged]], [[falsePositive]]])(
    'rejects an alert that is not resolved as a true positive (%#)',
    (history) => {
      given(raised, ...history)
        .when(recordAlertPolicyAction, { alertId, action: 'skipped', policyId: null, policyName: null }, known)
        .thenRefused('conflict');
    },
  );
  it('requires a policy of this tenant if the action names one', () => {
    const action = (policy: string | null, exists: boolean) =>
      given(raised, resolved).when(
        recordAlertPolicyAction,
        { alertId, action: 'added_to_existing', policyId: policy, policyName: null },
        { exists, name: null },
      );
    action(null, false).thenRefused('invalid');
    action(policyId, false).thenRefused('invalid');
    given(raised, resolved)
      .when(recordAlertPolicyAction, { alertId, action: 'skipped', policyId: null, policyName: null }, known)
      .thenTypes('AlertPolicyActionRecorded');
  });
});

describe('RaiseAlert and RecordAlertOccurrence', () => {
  it('raises one alert per id', () => {
    given().when(raiseAlert, detail, { severity: 'medium' }).then(raised);
    given(raised).when(raiseAlert, detail, { severity: 'medium' }).thenNothing();
  });
  it('counts one cause once, however often it is reported', () => {
    const again = {
      alertId,
      cause: 'c0000000-0000-4000-8000-000000000002',
      occurrences: 1,
      occurredAt: '2026-06-01T12:00:00.000Z',
    };
    given(raised).when(recordAlertOccurrence, again).thenTypes('AlertRepeated');
    given(raised, { type: 'AlertRepeated', data: again }).when(recordAlertOccurrence, again).thenNothing();
    given(raised)
      .when(recordAlertOccurrence, { ...again, cause: detail.cause })
      .thenNothing();
  });
});
