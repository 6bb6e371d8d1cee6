import type { AlertType, Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  alertSeverity,
  alertSeverityStream,
  allSeverities,
} from '../../src/contexts/settings/domain/alert-severity.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface SetAlertSeverities {
  /** Types that are left out keep their severity. */
  readonly severities: Partial<Record<AlertType, Severity>>;
}

/** Sets the severities of new alerts (choice OP-087). Returns the severities of all types. */
export const setAlertSeverities = defineCommand({
  name: 'SetAlertSeverities',
  aggregate: alertSeverity,
  stream: (_input: SetAlertSeverities, { tenantId }) => alertSeverityStream(tenantId),
  decide(state, input) {
    const before = allSeverities(state.severities);
    const changed = Object.entries(input.severities).filter(
      ([type, severity]) => before[type as AlertType] !== severity,
    );
    const severities: SetAlertSeverities['severities'] = Object.fromEntries(changed);
    const result = { severities: { ...before, ...severities } };
    return acceptWith(result, changed.length > 0 ? [{ type: 'AlertSeveritiesSet', data: { severities } }] : []);
  },
  shown: ({ severities }) => ({ severities: allSeverities(severities) }),
  freshens: ['alert_severities'],
});
