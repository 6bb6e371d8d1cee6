import {
  alertTypes,
  severities,
  type AlertStatus,
  type AlertType,
  type Severity,
} from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export interface AlertStats {
  readonly total: number;
  readonly open: number;
  readonly acknowledged: number;
  readonly resolved: number;
  readonly falsePositive: number;
  readonly unassigned: number;
  readonly bySeverity: Readonly<Record<Severity, number>>;
  readonly byType: Readonly<Record<AlertType, number>>;
}

interface Group {
  status: AlertStatus;
  severity: Severity;
  alert_type: AlertType;
  count: number;
  unassigned: number;
}

const SQL = `
  select status, severity, alert_type, count(*)::int as count, (count(*) filter (where assigned_to is null))::int as unassigned
    from alerts
   where tenant_id = $1 and ($2::timestamptz is null or created_at >= $2) and ($3::timestamptz is null or created_at <= $3)
   group by status, severity, alert_type`;

/** Choice OP-081. Lists every severity and type, with zero if there is none. */
export const alertStats: Query<{ from?: string | undefined; to?: string | undefined }, AlertStats> = async (
  reads,
  { from, to },
) => {
  const groups = await reads.rows<Group>(SQL, [from ?? null, to ?? null]);
  const sum = (matches: (group: Group) => boolean, of: 'count' | 'unassigned' = 'count') =>
    groups.filter(matches).reduce((total, group) => total + group[of], 0);
  return {
    total: sum(() => true),
    open: sum(({ status }) => status === 'open'),
    acknowledged: sum(({ status }) => status === 'acknowledged'),
    resolved: sum(({ status }) => status === 'resolved'),
    falsePositive: sum(({ status }) => status === 'false_positive'),
    unassigned: sum(() => true, 'unassigned'),
    bySeverity: Object.fromEntries(
      severities.map((name) => [name, sum(({ severity }) => severity === name)]),
    ) as Record<Severity, number>,
    byType: Object.fromEntries(
      alertTypes.map((name) => [name, sum(({ alert_type }) => alert_type === name)]),
    ) as Record<AlertType, number>,
  };
};
