import { z } from 'zod';
import { confirmDirectorySync } from '../../../../../commands/directory-sources/confirm-directory-sync.ts';
import { startDirectorySync } from '../../../../../commands/directory-sources/start-directory-sync.ts';
import { describedEmployees } from '../../../../../queries/employees/described-employees.ts';
import {
  getDirectorySource,
  listDirectorySources,
} from '../../../../../queries/directory-sources/directory-source-view.ts';
import {
  directorySyncSummary,
  getDirectorySync,
  listDirectorySyncs,
} from '../../../../../queries/directory-sources/directory-sync-view.ts';
import { syncCounts } from '../../../../contexts/directory-sources/domain/events.ts';
import { plannedGroupActions } from '../../../../contexts/directory-sources/domain/group-plan.ts';
import { syncPhases } from '../../../../contexts/directory-sources/sync-hold.ts';
import { syncDetails, type PlannedPerson } from '../../../../contexts/directory-sources/sync-details.ts';
import { enqueueDirectorySync } from '../../../../contexts/directory-sources/sync-jobs.ts';
import type { Database } from '../../../../platform/database/database.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { FailureError } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { truthText } from '../../query-types.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { directorySourcesBase as base } from './directory-sources.ts';

export interface DirectorySyncsRouteDependencies {
  readonly jobs: Jobs;
  readonly database: Pick<Database, 'service'>;
}

const route = routeWith<DirectorySyncsRouteDependencies>();

const source = { path: `${base}/{sourceID}`, params: z.object({ sourceID: uuid() }) };
const one = { path: `${source.path}/syncs/{syncId}`, params: z.object({ sourceID: uuid(), syncId: uuid() }) };
const syncing = z.object({ syncId: z.uuid(), syncState: z.literal('syncing') });
const flag = truthText();
/** Groups of a part that a response lists. */
const LISTED_GROUPS = 100;

const plannedPerson = z.object({
  externalId: z.string(),
  userId: z.uuid().nullable(),
  userName: z.string().nullable(),
  email: z.string().nullable(),
  displayName: z.string().nullable(),
  refusal: z.string().nullable(),
});
const people = z.array(plannedPerson);
const plannedGroup = z.object({
  externalId: z.string().nullable(),
  groupId: z.uuid().nullable(),
  name: z.string(),
  action: z.enum(plannedGroupActions),
  membersBefore: z.int(),
  members: z.int(),
});
const unreadGroup = z.object({ externalId: z.string(), name: z.string().nullable(), reason: z.string() });
const syncView = directorySyncSummary.extend({
  /** Null before the first attempt, and from a day after the end. */
  progress: z
    .object({ phase: z.enum(syncPhases), counts: syncCounts.partial(), applied: z.int().nullable() })
    .nullable(),
  plan: z
    .object({
      created: people,
      linked: people,
      changed: people,
      deactivated: people,
      refused: people,
      groups: z
        .array(plannedGroup)
        .describe('Of a dry run and of a plan that waits. A released group is handed over to administrators, as it is'),
      unreadGroups: z
        .array(unreadGroup)
        .describe(
          'Selected groups that the credentials may not read, and why. They stay as they are, with their members',
        ),
    })
    .nullable(),
});

export const directorySyncRoutes: RouteGroup<DirectorySyncsRouteDependencies> = {
  area: 'directory-sources',
  routes: [
    route({
      method: 'POST',
      path: `${base}/sync-all`,
      access: admin('directory-sources:write'),
      summary: 'Synchronize all directories',
      operation: 'synchronizeAllDirectories',
      description:
        'Starts every enabled source. Sources that are being synchronized, or wait for a confirmation, are skipped.',
      status: 202,
      response: z.object({ started: z.int(), skipped: z.int() }),
      handle: async ({ ask, run, services, principal }) => {
        const { sources } = await ask(listDirectorySources, undefined);
        let started = 0;
        for (const { id: sourceId, isEnabled, syncState } of sources) {
          if (!isEnabled || syncState === 'syncing' || syncState === 'awaiting_confirmation') continue;
          const input = { sourceId, trigger: 'manual', isDryRun: false } as const;
          try {
            const { result } = await run(startDirectorySync, input, undefined, sourceId);
            await enqueueDirectorySync(
              services.jobs,
              { tenantId: principal.tenantId, sourceId, syncId: result.syncId },
              'start',
            );
            started += 1;
          } catch (error) {
            if (!(error instanceof FailureError && error.failure.kind === 'conflict')) throw error;
          }
        }
        return { started, skipped: sources.length - started };
      },
    }),
    route({
      ...source,
      path: `${source.path}/sync`,
      method: 'POST',
      access: admin('directory-sources:write'),
      summary: 'Synchronize a directory',
      operation: 'synchronizeDirectory',
      refuses: ['directory_syncing', 'directory_disabled'],
      description:
        '`dryRun=true` makes a plan and changes nobody. 409 while a synchronization is under way. A plan that waits for a confirmation is replaced.',
      query: z.object({ dryRun: flag.optional().describe('True: only make a plan') }),
      status: 202,
      response: syncing,
      handle: async ({ run, query, params, services, principal }) => {
        const input = { sourceId: params.sourceID, trigger: 'manual', isDryRun: query.dryRun ?? false } as const;
        const { result } = await run(startDirectorySync, input);
        const started = { tenantId: principal.tenantId, sourceId: params.sourceID, syncId: result.syncId };
        await enqueueDirectorySync(services.jobs, started, 'start');
        return { syncId: result.syncId, syncState: 'syncing' as const };
      },
    }),
    route({
      ...source,
      path: `${source.path}/syncs`,
      method: 'GET',
      access: admin('directory-sources:read'),
      summary: 'List the synchronizations of a directory',
      description: 'The latest 100, newest first.',
      response: z.object({ syncs: z.array(directorySyncSummary), total: z.int() }),
      handle: async ({ ask, params }) => {
        await ask(getDirectorySource, { sourceId: params.sourceID });
        return ask(listDirectorySyncs, { sourceId: params.sourceID });
      },
    }),
    route({
      ...one,
      method: 'GET',
      access: admin('directory-sources:read'),
      summary: 'Get a synchronization',
      description:
        'Its state, progress and plan: counts, and the first hundred people of each part and the first hundred groups. The plan lists them until a day after the end.',
      response: syncView,
      handle: async ({ ask, params, services, principal }) => {
        const summary = await ask(getDirectorySync, { sourceId: params.sourceID, syncId: params.syncId });
        const details = await syncDetails(services.database.service, principal.tenantId, params.syncId);
        if (!details) return { ...summary, progress: null, plan: null };
        const { applied = null, ...counts } = details.progress;
        const { create, link, change, deactivate, refuse } = details.plan;
        // People who are no longer listed are shown as the employees that they are.
        const gone = [...deactivate, ...change].flatMap((each) =>
          each.email === null && each.userId !== null ? [each.userId] : [],
        );
        const known = new Map((await ask(describedEmployees, { userIds: gone })).map((each) => [each.user_id, each]));
        const shown = (each: PlannedPerson): PlannedPerson => {
          const employee = each.email === null && each.userId !== null ? known.get(each.userId) : undefined;
          return employee ? { ...each, displayName: employee.display_name } : each;
        };
        return {
          ...summary,
          progress: { phase: details.phase, counts, applied },
          plan: {
            groups: details.plannedGroups,
            unreadGroups: details.unreadGroups.slice(0, LISTED_GROUPS),
            created: create,
            linked: link,
            changed: change.map(shown),
            deactivated: deactivate.map(shown),
            refused: refuse,
          },
        };
      },
    }),
    route({
      ...one,
      path: `${one.path}/confirm`,
      method: 'POST',
      access: adminReauthenticated('directory-sources:confirm'),
      summary: 'Confirm a synchronization that waits',
      refuses: ['directory_nothing_to_confirm'],
      description:
        'The directory is read again. If the plan would now deactivate people whom the confirmed one did not list, and still too many, it waits again. 409 if the synchronization does not wait.',
      status: 202,
      response: syncing,
      handle: async ({ run, params, services, principal, fresh }) => {
        const { sourceID: sourceId, syncId } = params;
        await run(confirmDirectorySync, { sourceId, syncId });
        const confirmed = { tenantId: principal.tenantId, sourceId, syncId };
        await enqueueDirectorySync(services.jobs, confirmed, `confirm/${fresh.id('confirmation')}`);
        return { syncId, syncState: 'syncing' as const };
      },
    }),
  ],
};
