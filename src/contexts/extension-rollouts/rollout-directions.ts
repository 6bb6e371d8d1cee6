import { startedRollouts } from '../../../queries/extension-rollouts/started-rollouts.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';
import type { InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';
import {
  countedFor,
  directionOf,
  type CountedFor,
  type DirectedDevice,
  type VersionDirection,
  type StartedRollout,
} from './domain/direction.ts';

export interface RolloutDirectionsDependencies {
  readonly models: readonly AnyReadModel[];
  readonly cache: InvalidatingCache;
  vitalReads(tenantId: TenantId): TenantReads;
}

/** The read model that the cached rollouts of a tenant come from. */
export const ROLLOUT_TABLES: readonly string[] = ['extension_rollouts'];

export interface HeartbeatDirection {
  /** Undefined: no rollout concerns the device's browser. */
  readonly direction: VersionDirection | undefined;
  readonly countedFor: CountedFor | null;
}

/** Directs devices at their heartbeats. The rollouts of a tenant are cached until one of them changes. */
export class RolloutDirections {
  readonly #rollouts: (tenantId: TenantId, all: string) => Promise<readonly StartedRollout[]>;

  constructor({ models, cache, vitalReads }: RolloutDirectionsDependencies) {
    const tables = models.filter(({ name }) => ROLLOUT_TABLES.includes(name));
    this.#rollouts = cache.cached(async (from, tenantId) => {
      await from.tables(tables);
      return orThrow(await startedRollouts(vitalReads(tenantId), undefined));
    });
  }

  /** `groupIds` is called only if a rollout has groups. */
  async of(
    tenantId: TenantId,
    device: Omit<DirectedDevice, 'groupIds'>,
    groupIds: () => Promise<readonly string[]>,
  ): Promise<HeartbeatDirection> {
    const rollouts = await this.#rollouts(tenantId, 'all');
    if (rollouts.length === 0) return { direction: undefined, countedFor: null };
    const needsGroups = rollouts.some(({ stages }) => stages.some((stage) => stage.groupIds.length > 0));
    const directed = { ...device, groupIds: needsGroups ? await groupIds() : [] };
    return { direction: directionOf(directed, rollouts), countedFor: countedFor(directed, rollouts) };
  }
}
