import { z } from 'zod';
import { beginUpdateCheck } from '../../../../../commands/updates/begin-update-check.ts';
import { beginUpdateDownload } from '../../../../../commands/updates/begin-update-download.ts';
import { beginUpdate } from '../../../../../commands/updates/begin-update.ts';
import { endUpdateCheck } from '../../../../../commands/updates/end-update-check.ts';
import { extensionVersions, extensionVersionView } from '../../../../../queries/updates/extension-versions.ts';
import { listSoftwareUpdates, softwareUpdateView } from '../../../../../queries/updates/list-software-updates.ts';
import { updateInfo, updateInfoView } from '../../../../../queries/updates/update-info.ts';
import type { UpdateAction } from '../../../../contexts/updates/domain/events.ts';
import { updateStates } from '../../../../contexts/updates/domain/software-update.ts';
import {
  AnnouncementRefused,
  type FoundUpdate,
  type UpdateAnnouncements,
} from '../../../../contexts/updates/update-announcements.ts';
import { conflict, FailureError, temporarilyUnavailable } from '../../../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../../../platform/kernel/ids.ts';
import type { Config } from '../../../config/config.ts';
import { admin } from '../../access.ts';
import { pageQuery, paginatedView, toPage } from '../../list-query.ts';
import type { AdminPrincipal } from '../../principal.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import { administersUpdates, refuseOtherTenants } from './administering-tenant.ts';

export interface UpdatesRouteDependencies {
  readonly config: Pick<Config, 'updates'>;
  readonly updateAnnouncements: UpdateAnnouncements;
}

type Call = Pick<
  HandlerContext<never, never, never, AdminPrincipal, UpdatesRouteDependencies>,
  'ask' | 'run' | 'services' | 'principal' | 'fresh'
>;

const route = routeWith<UpdatesRouteDependencies>();

const base = '/api/v1/admin/updates';
const startedView = z.object({ state: z.enum(updateStates) });
const WHO = 'Only the tenant that administers the installation may call this.';

const infoOf = ({ ask, services }: Pick<Call, 'ask' | 'services'>) =>
  ask(updateInfo, { runningVersion: services.config.updates.runningVersion, now: Date.now() }, INSTALLATION);

/** Without a feed, only uploads bring updates, and there is nothing to ask. */
async function check(call: Call) {
  const { run, fresh, services, principal } = call;
  await refuseOtherTenants(call, services.config.updates, principal.tenantId);
  if (!services.updateAnnouncements.isConfigured) return infoOf(call);
  const checkId = fresh.id('check');
  const { result } = await run(beginUpdateCheck, { checkId }, INSTALLATION);
  if (!result.isMine) return infoOf(call);
  const answered = await announced(call);
  const isRefused = answered instanceof AnnouncementRefused;
  // The address of the bundle may hold a token: no event stores it.
  const found = isRefused ? null : { version: answered.version, releaseNotes: answered.releaseNotes };
  const failure = isRefused ? answered.message : null;
  await run(endUpdateCheck, { checkId, found, failure }, INSTALLATION);
  if (isRefused) throw unusableFeed(answered);
  return infoOf(call);
}

const announced = ({ services }: Pick<Call, 'services'>): Promise<FoundUpdate | AnnouncementRefused> =>
  services.updateAnnouncements.ask(Date.now()).catch((error: unknown) => {
    if (error instanceof AnnouncementRefused) return error;
    throw error;
  });

function unusableFeed({ message }: AnnouncementRefused): FailureError {
  const unusable = temporarilyUnavailable('update_feed_unavailable');
  return new FailureError({ ...unusable, message: `${unusable.message}: ${message}` });
}

/** The download itself is a job: it may take longer than a request. */
async function beginDownload(call: Call) {
  const { run, services, principal } = call;
  const { updates } = services.config;
  await refuseOtherTenants(call, updates, principal.tenantId);
  if (!services.updateAnnouncements.isConfigured) throw new FailureError(conflict('update_feed_missing'));
  const found = await announced(call);
  if (found instanceof AnnouncementRefused) throw unusableFeed(found);
  if (!found.bundle || updates.publicKey === undefined) throw new FailureError(conflict('update_without_bundle'));
  const { runningVersion } = updates;
  await run(beginUpdateDownload, { version: found.version, runningVersion }, INSTALLATION);
  return infoOf(call);
}

async function begin(call: Call, action: UpdateAction, version?: string) {
  const { run, services, principal } = call;
  const { updates } = services.config;
  await refuseOtherTenants(call, updates, principal.tenantId);
  const { runningVersion, command } = updates;
  const hasCommand = command !== undefined;
  await run(beginUpdate, { action, version, runningVersion, hasCommand }, INSTALLATION);
  // Not from the read model: the command may have ended since, and this response tells what was accepted.
  const done = action === 'apply' ? ('applied' as const) : ('rolled_back' as const);
  return { state: hasCommand ? ('applying' as const) : done };
}

/** OP-207 to OP-209. */
export const updateRoutes: RouteGroup<UpdatesRouteDependencies> = {
  area: 'updates',
  routes: [
    route({
      method: 'GET',
      path: `${base}/info`,
      access: admin('updates:read'),
      summary: 'Get the running and the available version',
      response: updateInfoView,
      handle: infoOf,
    }),
    route({
      method: 'GET',
      path: `${base}/extension-versions`,
      access: admin('updates:read'),
      summary: 'List the extension versions of the fleet',
      operation: 'listExtensionVersions',
      description:
        'Counts active devices by the version that they reported last, by browser and newest first. At most 500.',
      response: z.object({ versions: z.array(extensionVersionView), total: z.int() }),
      handle: ({ ask }) => ask(extensionVersions, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/history`,
      access: admin('updates:read'),
      summary: 'List past updates',
      operation: 'listUpdates',
      description: 'Updates and rollbacks of the installation, newest first.',
      query: z.object(pageQuery),
      response: z.object({ history: z.array(softwareUpdateView), ...paginatedView }),
      handle: async ({ ask, query, services, principal: { tenantId } }) => {
        const isAdministering = await administersUpdates({ ask }, services.config.updates, tenantId);
        return ask(listSoftwareUpdates, { ...toPage(query), isAdministering }, INSTALLATION);
      },
    }),
    route({
      method: 'POST',
      path: `${base}/check`,
      access: admin('updates:write'),
      summary: 'Check for an update',
      operation: 'checkForUpdate',
      description: `Asks the operator's feed, if there is one. ${WHO}`,
      refuses: ['updates_of_the_operator', 'update_feed_unavailable'],
      response: updateInfoView,
      handle: check,
    }),
    route({
      method: 'POST',
      path: `${base}/download`,
      access: admin('updates:write'),
      summary: 'Download the announced update',
      operation: 'downloadUpdate',
      description: `Begins to download the bundle that the feed names, at most 200 MiB, and stages it once its digest and signature were checked. \`download\` shows a download that runs or has failed. ${WHO}`,
      refuses: [
        'updates_of_the_operator',
        'update_feed_missing',
        'update_feed_unavailable',
        'update_without_bundle',
        'update_not_newer',
        'update_under_way',
      ],
      status: 202,
      response: updateInfoView,
      handle: beginDownload,
    }),
    route({
      method: 'POST',
      path: `${base}/apply`,
      access: admin('updates:write'),
      summary: 'Apply the staged update',
      operation: 'applyUpdate',
      description: `Runs the operator's command, or records the update as applied if there is none. ${WHO}`,
      refuses: ['updates_of_the_operator', 'nothing_staged', 'update_under_way', 'update_not_newer'],
      body: z.object({ version: z.string().max(64).optional().describe('409 if another version is staged') }).nullish(),
      status: 202,
      response: startedView,
      handle: ({ body, ...call }) => begin(call, 'apply', body?.version),
    }),
    route({
      method: 'POST',
      path: `${base}/rollback`,
      access: admin('updates:write'),
      summary: 'Roll the last update back',
      operation: 'rollBackUpdate',
      description: `Leads back to the version before the last update, once. ${WHO}`,
      refuses: ['updates_of_the_operator', 'nothing_to_roll_back', 'update_under_way'],
      status: 202,
      response: startedView,
      handle: (call) => begin(call, 'rollback'),
    }),
  ],
};
