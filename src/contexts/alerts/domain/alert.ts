import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { alertEvents } from './events.ts';
import type { TriageState } from './triage-state.ts';
import type { AlertStatus, Severity } from './vocabulary.ts';

/** What decisions about an alert need. */
export interface AlertState {
  readonly status: 'none' | AlertStatus;
  readonly severity: Severity;
  /** The employee whom the alert is about. Text about this person is sealed under their key. */
  readonly userId: string | null;
  readonly assigneeId: string | null;
  readonly fingerprint: string;
  /** The latest causes. A report counts once, even if its effect is repeated. */
  readonly causes: readonly string[];
  /** Null for alerts raised before the triage state was recorded. */
  readonly standing: TriageState | null;
  readonly lastDeliveryId: string | null;
}

const initial: AlertState = {
  status: 'none',
  severity: 'low',
  userId: null,
  assigneeId: null,
  fingerprint: '',
  causes: [],
  standing: null,
  lastDeliveryId: null,
};

/** Effects are repeated only after a crash, within the batch in progress. Such a batch has far fewer causes. */
const CAUSES_KEPT = 1_000;

export const alert = defineAggregate<AlertState, typeof alertEvents>(alertEvents, initial, (state, event) => {
  switch (event.type) {
    case 'AlertRaised': {
      const { severity, userId, fingerprint, cause, raisedAt } = event.data;
      const standing: TriageState | null = raisedAt
        ? { raisedAt, severity, status: 'open', acknowledgedAt: null, resolvedAt: null }
        : null;
      return {
        status: 'open',
        severity,
        userId,
        assigneeId: null,
        fingerprint,
        causes: [cause],
        standing,
        lastDeliveryId: null,
      };
    }
    case 'AlertRepeated':
      return { ...state, causes: [...state.causes.slice(1 - CAUSES_KEPT), event.data.cause] };
    case 'AlertAcknowledged':
      return { ...state, status: 'acknowledged', standing: event.data.is };
    case 'AlertResolved':
      return { ...state, status: event.data.status, standing: event.data.is };
    case 'AlertReopened':
      return { ...state, status: 'open', standing: event.data.is };
    case 'AlertAssigned':
    case 'AlertClaimed':
      return { ...state, assigneeId: event.data.assigneeId };
    case 'AlertSeverityChanged':
      return { ...state, severity: event.data.severity, standing: event.data.is };
    case 'AlertForwarded':
      return { ...state, lastDeliveryId: event.data.deliveryId };
    case 'AlertPolicyActionRecorded':
      return state;
  }
});

export const alertStream = (tenantId: TenantId, alertId: string): string => streamName('alert', tenantId, alertId);

export const isClosed = ({ status }: AlertState): boolean => status === 'resolved' || status === 'false_positive';
