import type { AlertSeveritiesRow } from '../../projections/settings/alert-severities.ts';
import type { AlertType, Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { allSeverities } from '../../src/contexts/settings/domain/alert-severity.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** The severity of every type of alert (choice OP-087). */
export const getAlertSeverities: Query<undefined, { severities: Readonly<Record<AlertType, Severity>> }> = async (
  reads,
) => {
  const row = await reads.one<AlertSeveritiesRow>('select * from alert_severities where tenant_id = $1');
  return { severities: allSeverities(row?.severities ?? {}) };
};
