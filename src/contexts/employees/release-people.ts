import { z } from 'zod';
import type { CommandPorts } from '../../../commands/ports.ts';
import { unprovisionEmployee } from '../../../commands/employees/unprovision-employee.ts';
import { releaseGroup } from '../../../commands/groups/release-group.ts';
import { linkedPeopleAfter } from '../../../queries/employees/linked-people.ts';
import { groupsOfSource } from '../../../queries/groups/groups-of-source.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure, orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../platform/kernel/ids.ts';
import { inParallel } from '../../platform/kernel/in-parallel.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import { provisioningKinds } from './domain/provisioning.ts';

/** Gives people and groups of a removed source to administrators, or to the next source that names them. */
export const sourceReleasing = declareJob({
  name: 'release-provisioned-people',
  data: z.object({
    tenantId: uuid(),
    kind: z.enum(provisioningKinds),
    sourceId: uuid(),
    isLast: z.boolean().default(false),
  }),
  attempts: 12,
  backoff: { firstMs: 5_000, longestMs: 600_000 },
  timeoutMs: 3_600_000,
  lane: 'directories',
});

const PAGE = 1_000;
const AT_ONCE = 64;
const FRESH_MS = 30_000;
/**
 * Requests that were authorized before the removal may create people after it. Longer than any of them lives, and than a
 * statement that outlives its request.
 */
export const LATECOMERS_MS = 180_000;

interface ReleasePorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  reads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
  jobs(): Pick<Jobs, 'enqueue'>;
}

export const releaseProvisionedPeople = ({ executor, reads, freshness, head, jobs }: ReleasePorts): AnyJob =>
  defineJob({
    ...sourceReleasing,
    handle: async ({ tenantId: tenant, kind, sourceId, isLast }, { correlationId, signal }) => {
      const tenantId = asTenantId(tenant);
      const source = { kind, id: sourceId };
      const execution = { tenantId, actor: system('provisioning'), correlationId };
      if (!(await freshness.waitFor(['provisioned_people', 'groups'], await head(), FRESH_MS)))
        throw new JobFailed('the read models are behind the log');
      const done = (outcome: object) => {
        if (isFailure(outcome) && outcome.kind === 'unavailable') throw new JobFailed('the event store is away');
      };
      for (let after: string | undefined; !signal.aborted;) {
        const people = orThrow(await linkedPeopleAfter(reads(tenantId), { source, after, limit: PAGE }));
        if (people.length === 0) break;
        after = people.at(-1)!.userId;
        await inParallel(AT_ONCE, people, async ({ userId }) =>
          done(await executor.execute(unprovisionEmployee, { userId, source, how: 'unlink' }, execution)),
        );
      }
      for (const { groupId } of orThrow(await groupsOfSource(reads(tenantId), { source })))
        done(await executor.execute(releaseGroup, { groupId, by: source }, execution));
      if (!isLast)
        await jobs().enqueue(
          sourceReleasing,
          { tenantId, kind, sourceId, isLast: true },
          { id: `${sourceId}/latecomers`, delayMs: LATECOMERS_MS, tenantId },
        );
    },
  });
