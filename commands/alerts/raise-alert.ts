import { alert, alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { defaultSeverities, type AlertType, type Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { alertSeverity } from '../../src/contexts/settings/domain/alert-severity.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { streamName } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface RaiseAlert {
  /** Derived from the cause, so that one cause never raises two alerts. */
  readonly alertId: string;
  readonly alertType: AlertType;
  /** Set if a specific setting defines the severity. */
  readonly severity?: Severity | null;
  readonly title: string;
  readonly description: string;
  readonly fingerprint: string;
  readonly userId: string | null;
  readonly deviceId: string | null;
  readonly domain: string | null;
  readonly url: string | null;
  readonly cause: string;
  readonly metadata: Record<string, string | number | boolean | null | string[]>;
}

/**
 * Raises an alert automatically. The severity comes from the tenant's current table (OP-087), unless a specific setting
 * defines it.
 */
export const raiseAlert = defineCommand({
  name: 'RaiseAlert',
  aggregate: alert,
  stream: ({ alertId }: RaiseAlert, { tenantId }) => alertStream(tenantId, alertId),
  begins: true,
  prepare: async (
    { alertType, severity }: RaiseAlert,
    { aggregates }: { aggregates: AggregateReader },
    { tenantId },
  ) => {
    if (severity) return { severity };
    const { severities } = await aggregates.load(alertSeverity, streamName('alertSeverity', tenantId, tenantId));
    return { severity: severities[alertType] ?? defaultSeverities[alertType] };
  },
  decide(state, input, { now }, { severity }) {
    if (state.status !== 'none') return accept([]);
    return accept([{ type: 'AlertRaised', data: { ...input, severity, raisedAt: new Date(now).toISOString() } }]);
  },
});
