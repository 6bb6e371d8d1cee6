import { z } from 'zod';
import type { ExtensionRolloutRow } from '../../projections/extension-rollouts/extension-rollouts.ts';
import { BUCKETS, bucketsOf } from '../../src/contexts/extension-rollouts/domain/device-bucket.ts';
import { errorRate } from '../../src/contexts/extension-rollouts/domain/error-rates.ts';
import { versionFigures, type VersionFigures } from '../../src/contexts/extension-rollouts/domain/events.ts';
import { compareVersions } from '../../src/contexts/extensions/domain/version-order.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { FIGURES, figuresOf, type FiguresRow } from './rollout-figures.ts';

/** Devices report their version themselves, so a hostile one could make many. */
const MAX_VERSIONS = 500;

const sideView = z.object({
  ...versionFigures.shape,
  errorsPerDeviceHour: z.number().describe('Each device counts at most 10 errors an hour'),
});
/** OP-514. */
export const rolloutProgressView = z.object({
  stages: z.array(
    z.object({
      stage: z.int().nullable().describe('The first stage that the devices belong to; null: none before completion'),
      devices: z.int(),
      updatedDevices: z.int().describe('Of these, with the version of the rollout'),
      versions: z.array(z.object({ version: z.string().nullable(), devices: z.int() })),
    }),
  ),
  candidate: sideView.describe('Devices with the version, in the current round; zeros once the rollout has ended'),
  baseline: sideView.describe('Devices with any other version, likewise'),
});
type RolloutProgressView = z.output<typeof rolloutProgressView>;

const ONE = 'select * from extension_rollouts where tenant_id = $1 and rollout_id = $2';

/**
 * The first stage of each device: by its bucket (`bucketOf` in `device-bucket.ts`, here in SQL), or by a group of its
 * person. $2 salt, $3 buckets by stage, $4 and $5 stage and id of groups, $6 browser.
 */
const BY_STAGE = `
  with fleet as (
    select d.extension_version as version, d.user_id,
           ('x' || encode(substring(sha256(convert_to($2 || '|' || d.device_id::text, 'UTF8')) from 1 for 4), 'hex'))::bit(32)::bigint % ${BUCKETS} as bucket
      from devices d
     where d.tenant_id = $1 and d.status in ('active', 'wipe_pending') and ($6::text is null or d.browser_type = $6)
  ), of_groups as (
    select m.user_id, min(g.stage) as stage
      from unnest($4::int[], $5::uuid[]) as g (stage, group_id)
      join group_members m on m.tenant_id = $1 and m.group_id = g.group_id
     group by m.user_id
  )
  select least(o.stage, b.stage) as stage, f.version, count(*)::int as devices
    from fleet f
    left join of_groups o on o.user_id = f.user_id
    cross join lateral (
      select (min(s.n) - 1)::int as stage from unnest($3::int[]) with ordinality as s (buckets, n) where f.bucket < s.buckets
    ) b
   group by 1, 2 order by count(*) desc, 2, 1 limit ${MAX_VERSIONS}`;

const COUNTED = `
  select ${FIGURES} from extension_rollout_devices d
   where d.tenant_id = $1 and d.rollout_id = $2 and d.round = $3`;

interface StageVersion {
  readonly stage: number | null;
  readonly version: string | null;
  readonly devices: number;
}

const withRate = (side: VersionFigures) => ({ ...side, errorsPerDeviceHour: errorRate(side) });

const newestFirst = (one: StageVersion, other: StageVersion): number =>
  compareVersions(other.version ?? '', one.version ?? '');

/** Devices by stage and version, and errors. Counts devices in use, as the versions of the fleet do. */
export const rolloutProgress: Query<{ rolloutId: string }, RolloutProgressView> = async (reads, { rolloutId }) => {
  const row = await reads.one<ExtensionRolloutRow>(ONE, [rolloutId]);
  if (!row) return notFound();
  const { version: target, stages, browserType } = row.content;
  const groups = stages.flatMap(({ groupIds }, stage) => groupIds.map((groupId) => ({ stage, groupId })));
  const [counted, figures] = await Promise.all([
    reads.rows<StageVersion>(BY_STAGE, [
      row.salt,
      stages.map(({ percent }) => bucketsOf(percent)),
      groups.map(({ stage }) => stage),
      groups.map(({ groupId }) => groupId),
      browserType,
    ]),
    reads.figures<FiguresRow>(COUNTED, [rolloutId, row.round]),
  ]);
  const { candidate, baseline } = figuresOf(figures!);
  const stageView = (stage: number | null) => {
    const own = counted.filter((one) => one.stage === stage);
    return {
      stage,
      devices: own.reduce((sum, { devices }) => sum + devices, 0),
      updatedDevices: own.find(({ version }) => version === target)?.devices ?? 0,
      versions: own.toSorted(newestFirst).map(({ version, devices }) => ({ version, devices })),
    };
  };
  return {
    stages: [...stages.keys(), null].map(stageView),
    candidate: withRate(candidate),
    baseline: withRate(baseline),
  };
};
