import { z } from 'zod';
import { createDirectorySource } from '../../../../../commands/directory-sources/create-directory-source.ts';
import { deleteDirectorySource } from '../../../../../commands/directory-sources/delete-directory-source.ts';
import { selectDirectoryGroups } from '../../../../../commands/directory-sources/select-directory-groups.ts';
import { updateDirectorySource } from '../../../../../commands/directory-sources/update-directory-source.ts';
import {
  directorySourceView,
  getDirectorySource,
  listDirectorySources,
  viewOfNewDirectorySource,
} from '../../../../../queries/directory-sources/directory-source-view.ts';
import { refuseUnlessOwnerOfPrivate } from '../../../../contexts/admins/domain/private-destinations.ts';
import { MAX_SYNCED_GROUPS, type DirectoryConfig } from '../../../../contexts/directory-sources/domain/config.ts';
import { CALL_TIMEOUT_MS } from '../../../../contexts/directory-sources/http/directory-http.ts';
import type { DirectoryReaders } from '../../../../contexts/directory-sources/open-reader.ts';
import {
  DirectoryFailed,
  MAX_DIRECTORY_GROUPS,
  type DirectoryReader,
} from '../../../../contexts/directory-sources/domain/directory-reader.ts';
import { FailureError, invalid, notFound, orThrow, unavailable } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { Config } from '../../../config/config.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import {
  directoryChangesOf,
  directorySourceChanges,
  directoryDraftOf,
  newDirectorySource,
  judgeNewDirectory,
  refuseInsecureDirectory,
} from './directory-source-bodies.ts';

export interface DirectorySourcesRouteDependencies {
  readonly config: Pick<Config, 'devMode'>;
  readonly directoryReaders: DirectoryReaders;
}

const route = routeWith<DirectorySourcesRouteDependencies>();

export const directorySourcesBase = '/api/v1/admin/directory-sources';
const base = directorySourcesBase;
const one = { path: `${base}/{sourceID}`, params: z.object({ sourceID: uuid() }) };
/** Groups that one response offers. */
const MAX_OFFERED = 10_000;

async function withReader<T>(
  readers: DirectoryReaders,
  tenantId: TenantId,
  sourceId: string,
  work: (reader: DirectoryReader) => Promise<T>,
): Promise<T> {
  const reader = await readers.open(tenantId, sourceId, CALL_TIMEOUT_MS);
  if (!reader) throw new FailureError(notFound());
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

export const directorySourceRoutes: RouteGroup<DirectorySourcesRouteDependencies> = {
  area: 'directory-sources',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('directory-sources:read'),
      summary: 'List directory sources',
      description: 'Without credentials, newest first.',
      response: z.object({ sources: z.array(directorySourceView), total: z.int() }),
      handle: ({ ask }) => ask(listDirectorySources, undefined),
    }),
    route({
      method: 'POST',
      path: base,
      access: adminReauthenticated('directory-sources:write'),
      summary: 'Add a directory source',
      description:
        'The credential in `config` is stored in the vault and never shown. Only a super admin may set `allowPrivateNetwork`. `maxDeactivationShare` is in percent: a synchronization that would deactivate at least ten people and a larger share waits for a confirmation.',
      body: newDirectorySource,
      judge: judgeNewDirectory,
      status: 201,
      response: directorySourceView,
      handle: async ({ body, principal, fresh, run, created }) => {
        const sourceId = fresh.id('directory source');
        const draft = directoryDraftOf(body, sourceId);
        const reach = { ...draft.source, address: draft.source.config };
        orThrow(refuseUnlessOwnerOfPrivate(undefined, reach, principal.role === 'super_admin'));
        const executed = await run(createDirectorySource, draft);
        return created(executed, getDirectorySource, { sourceId }, (events) =>
          viewOfNewDirectorySource(sourceId, events),
        );
      },
    }),
    route({
      ...one,
      method: 'GET',
      access: admin('directory-sources:read'),
      summary: 'Get a directory source',
      response: directorySourceView,
      handle: ({ ask, params }) => ask(getDirectorySource, { sourceId: params.sourceID }),
    }),
    route({
      ...one,
      method: 'PUT',
      access: adminReauthenticated('directory-sources:write'),
      summary: 'Change a directory source',
      refuses: ['secret_required_again'],
      description:
        'Fields that are left out keep their values, the credential included. A new address requires the credential again, or null (400); while `allowPrivateNetwork` is set, only a super admin may change it. The type cannot be changed.',
      body: directorySourceChanges,
      response: directorySourceView,
      handle: async ({ ask, run, body, services, principal, params }) => {
        const sourceId = params.sourceID;
        const stored = await ask(getDirectorySource, { sourceId });
        const changes = directoryChangesOf(body, stored.type, sourceId);
        const wanted = { ...stored.config, ...changes.config, type: stored.type };
        refuseInsecureDirectory(services.config, wanted as unknown as DirectoryConfig);
        await run(updateDirectorySource, { ...changes, isSuperAdmin: principal.role === 'super_admin' });
        return ask(getDirectorySource, { sourceId });
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      access: adminReauthenticated('directory-sources:write'),
      summary: 'Remove a directory source',
      refuses: ['directory_syncing'],
      description:
        'Its people and groups stay; administrators maintain them from then on. 409 during a synchronization.',
      handle: async ({ run, params }) => {
        await run(deleteDirectorySource, { sourceId: params.sourceID });
      },
    }),
    route({
      ...one,
      path: `${one.path}/test`,
      method: 'POST',
      access: admin('directory-sources:write'),
      summary: 'Test a directory source',
      description: 'Connects with the stored credential and reads one entry.',
      response: z.object({ success: z.boolean(), message: z.string() }),
      handle: async ({ services, principal, params }) => {
        try {
          await withReader(services.directoryReaders, principal.tenantId, params.sourceID, (reader) => reader.test());
          return { success: true, message: 'the directory can be read' };
        } catch (error) {
          if (error instanceof DirectoryFailed) return { success: false, message: error.message };
          throw error;
        }
      },
    }),
    route({
      ...one,
      path: `${one.path}/groups`,
      method: 'GET',
      access: admin('directory-sources:read'),
      summary: 'List the groups that a directory offers',
      refuses: ['directory_unavailable'],
      description: `Asks the directory; 503 if it cannot be read. At most ${MAX_OFFERED.toLocaleString('en')} groups. \`memberCount\` is null if the directory does not tell it.`,
      response: z.object({
        groups: z.array(
          z.object({
            externalId: z.string(),
            name: z.string(),
            memberCount: z.int().nullable(),
            isSynced: z.boolean(),
          }),
        ),
        total: z.int(),
        isTruncated: z.boolean(),
      }),
      handle: async ({ ask, services, principal, params }) => {
        const { syncedGroupIds } = await ask(getDirectorySource, { sourceId: params.sourceID });
        const synced = new Set(syncedGroupIds);
        const { groups, isTruncated } = await offered(services, principal.tenantId, params.sourceID);
        const shown = groups.map((group) => ({ ...group, isSynced: synced.has(group.externalId) }));
        return { groups: shown, total: shown.length, isTruncated };
      },
    }),
    route({
      ...one,
      path: `${one.path}/synced-groups`,
      method: 'PUT',
      access: adminReauthenticated('directory-sources:write'),
      summary: 'Choose the groups to synchronize',
      operation: 'chooseDirectoryGroups',
      refuses: ['directory_unavailable'],
      description: `Replaces the list; at most ${MAX_SYNCED_GROUPS.toLocaleString('en')} groups, by \`externalId\`. A group that is new in the list has to be one that the directory offers (400); 503 if the directory cannot be read. Takes effect with the next synchronization.`,
      body: z.object({ groupIds: z.array(z.string().min(1).max(256)).max(MAX_SYNCED_GROUPS) }),
      response: directorySourceView,
      handle: async ({ run, ask, body, params, services, principal }) => {
        const { syncedGroupIds } = await ask(getDirectorySource, { sourceId: params.sourceID });
        const added = body.groupIds.filter((id) => !syncedGroupIds.includes(id));
        if (added.length > 0) await refuseUnknownGroups(services, principal.tenantId, params.sourceID, added);
        await run(selectDirectoryGroups, { sourceId: params.sourceID, groupIds: body.groupIds });
        return ask(getDirectorySource, { sourceId: params.sourceID });
      },
    }),
  ],
};

async function refuseUnknownGroups(
  services: DirectorySourcesRouteDependencies,
  tenantId: TenantId,
  sourceId: string,
  groupIds: readonly string[],
): Promise<void> {
  const { groups, isTruncated } = await offered(services, tenantId, sourceId, MAX_DIRECTORY_GROUPS);
  const known = new Set(groups.map(({ externalId }) => externalId));
  if (!isTruncated && !groupIds.every((id) => known.has(id)))
    throw new FailureError(invalid('groupIds', 'contains an id that is not a group of the directory'));
}

const offered = async (
  { directoryReaders }: DirectorySourcesRouteDependencies,
  tenantId: TenantId,
  sourceId: string,
  most = MAX_OFFERED,
) => {
  try {
    return await withReader(directoryReaders, tenantId, sourceId, (reader) => reader.groups(most));
  } catch (error) {
    if (error instanceof DirectoryFailed) throw new FailureError(unavailable('directory_unavailable', error.message));
    throw error;
  }
};
