import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { severities, type AlertType, type Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  alertSeverity,
  alertSeverityStream,
  allSeverities,
} from '../../src/contexts/settings/domain/alert-severity.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

const isLess = (one: Severity, other: Severity): boolean => severities.indexOf(one) > severities.indexOf(other);

interface SetAlertSeverities {
  /** Types that are left out keep their severity. */
  readonly severities: Partial<Record<AlertType, Severity>>;
  /** Required where alerts of a type become less severe: people then may not hear of them (decision 0150). */
  readonly reauthenticated?: boolean;
}

/** Sets the severities of new alerts (choice OP-087). Returns the severities of all types. */
export const setAlertSeverities = defineCommand({
  name: 'SetAlertSeverities',
  aggregate: alertSeverity,
  stream: (_input: SetAlertSeverities, { tenantId }) => alertSeverityStream(tenantId),
  decide(state, input, { actor }) {
    const before = allSeverities(state.severities);
    const changed = Object.entries(input.severities).filter(
      ([type, severity]) => before[type as AlertType] !== severity,
    );
    const set: SetAlertSeverities['severities'] = Object.fromEntries(changed);
    const result = { severities: { ...before, ...set } };
    const isSilenced = changed.some(([type, severity]) => isLess(severity, before[type as AlertType]));
    const unproved = isSilenced ? refuseUnlessReauthenticated(actor, input.reauthenticated) : undefined;
    if (unproved) return unproved;
    const data = { severities: set, ...(isSilenced ? { isSilenced } : {}) };
    return acceptWith(result, changed.length > 0 ? [{ type: 'AlertSeveritiesSet', data }] : []);
  },
  shown: ({ severities }) => ({ severities: allSeverities(severities) }),
  freshens: ['alert_severities'],
});
