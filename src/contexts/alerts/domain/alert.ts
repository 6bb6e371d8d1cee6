import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { alertEvents } from './events.ts';
import type { TriageState } from './triage-state.ts';
import type { AlertStatus, Severity } from './vocabulary.ts';

/** What decisions about an alert need. */
export interface AlertState {
  readonly status: 'none' | AlertStatus;
  readonly severity: Severity;
  /** Whom it is about: what is written about it is theirs. */
  readonly userId: string | null;
  readonly assigneeId: string | null;
  readonly fingerprint: string;
  /** The latest causes, so that one report counts once however often it is asked for. */
  readonly causes: readonly string[];
  /** Null for an alert from before standings were recorded. */
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

/** An effect is repeated only around a crash, within the batch under way then: far fewer than this. */
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
