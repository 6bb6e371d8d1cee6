import { z } from 'zod';
import { windowStart } from '../../src/contexts/alerts/domain/timeframe.ts';
import { conditions } from '../../src/contexts/policies/domain/events.ts';
import {
  categoryNames,
  grades,
  postureOf,
  type PostureMeasure,
} from '../../src/contexts/dashboard/domain/posture-score.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { triageMetrics } from '../alerts/triage-metrics.ts';
import { tenantCredentialStats } from '../credentials/tenant-credential-stats.ts';
import { fleetHealth } from '../devices/fleet-health.ts';
import { engineConfig } from '../policies/engine-config.ts';
import type { EngineConfig } from '../../src/contexts/policies/domain/engine/encounter.ts';

/** Choice OP-088. */
export const securityPostureView = z.object({
  /** Null: too little was reported to judge. */
  score: z.int().nullable(),
  grade: z.enum(grades).nullable(),
  /** Why the score is missing, or lower than the mean of the categories: in learning mode it is at most 89. */
  limitedBy: z.enum(['not_enough_data', 'learning_mode']).nullable(),
  breakdown: z.array(
    z.object({
      category: z.enum(categoryNames),
      label: z.string(),
      /** Null: nothing was measured. The category does not count. */
      score: z.int().nullable(),
      weight: z.int(),
      details: z.string(),
    }),
  ),
  calculatedAt: z.iso.datetime(),
});

const SIGN_INS = `
  select coalesce(sum(sign_ins), 0)::float8 as "of", coalesce(sum(with_mfa), 0)::float8 as good
    from sign_in_daily where tenant_id = $1 and day >= $2::date`;

const SIGNALS = conditions.filter((condition) => condition !== 'any');

/** Signals covered by an enabled rule for everyone. In learning mode no rule acts, so coverage counts half. */
function coverage({ policies, mode }: EngineConfig): PostureMeasure {
  const rules = policies
    .filter(({ isEnabled, groupIds }) => isEnabled && groupIds.length === 0)
    .flatMap((policy) => policy.rules);
  const covered = SIGNALS.filter((signal) =>
    rules.some(({ condition }) => condition === signal || condition === 'any'),
  );
  const acts = mode === 'learning' ? 1 : 2;
  return {
    good: covered.length * acts,
    of: SIGNALS.length * 2,
    details: `${covered.length} of ${SIGNALS.length} signals are covered by a policy; mode ${mode}`,
  };
}

const outOf = (good: number, of: number, details: string): PostureMeasure => ({ good, of, details });

/** The tenant's security score, computed from existing counters. */
export const securityPosture: Query<{ now: number }, z.output<typeof securityPostureView>> = async (reads, { now }) => {
  const month = windowStart('30d', now);
  const [credentials, fleet, alerts, config, signIns] = await Promise.all([
    tenantCredentialStats(reads, undefined).then(orThrow),
    fleetHealth(reads, undefined).then(orThrow),
    triageMetrics(reads, { timeframe: '30d', now }).then(orThrow),
    engineConfig(reads, undefined).then(orThrow),
    reads.figures<{ good: number; of: number }>(SIGN_INS, [month.slice(0, 10)]),
  ]);
  const { totalCredentials, reusedCredentials, breachedCredentials } = credentials;
  const { activeDevices, staleDevices } = fleet;
  const resolved = Math.round(alerts.resolutionRate * alerts.totalAlerts);
  const { good: withMfa, of: all } = signIns!;
  const measures = {
    password_hygiene: outOf(
      totalCredentials - reusedCredentials,
      totalCredentials,
      `${reusedCredentials} of ${totalCredentials} credentials reuse a password`,
    ),
    breached_passwords: outOf(
      totalCredentials - breachedCredentials,
      totalCredentials,
      `${breachedCredentials} of ${totalCredentials} credentials have a breached password`,
    ),
    mfa_adoption: outOf(withMfa, all, `${withMfa} of ${all} sign-ins within 30 days asked for a second factor`),
    device_health: outOf(
      activeDevices,
      activeDevices + staleDevices,
      `${staleDevices} of ${activeDevices + staleDevices} devices have stopped reporting`,
    ),
    alert_response: outOf(
      resolved,
      alerts.totalAlerts,
      `${resolved} of ${alerts.totalAlerts} alerts of 30 days are closed`,
    ),
    policy_coverage: coverage(config),
  };
  const posture = postureOf(measures, { isLearning: config.mode === 'learning' });
  return { ...posture, breakdown: [...posture.breakdown], calculatedAt: new Date(now).toISOString() };
};
