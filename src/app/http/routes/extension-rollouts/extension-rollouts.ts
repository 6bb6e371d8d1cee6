import { z } from 'zod';
import { advanceExtensionRollout } from '../../../../../commands/extension-rollouts/advance-extension-rollout.ts';
import { changeExtensionRollout } from '../../../../../commands/extension-rollouts/change-extension-rollout.ts';
import { deleteExtensionRollout } from '../../../../../commands/extension-rollouts/delete-extension-rollout.ts';
import { draftExtensionRollout } from '../../../../../commands/extension-rollouts/draft-extension-rollout.ts';
import { pauseExtensionRollout } from '../../../../../commands/extension-rollouts/pause-extension-rollout.ts';
import { resumeExtensionRollout } from '../../../../../commands/extension-rollouts/resume-extension-rollout.ts';
import { rollBackExtensionRollout } from '../../../../../commands/extension-rollouts/roll-back-extension-rollout.ts';
import { startExtensionRollout } from '../../../../../commands/extension-rollouts/start-extension-rollout.ts';
import {
  extensionRolloutView,
  getExtensionRollout,
  listExtensionRollouts,
  shownExtensionRollout,
  viewOfNewExtensionRollout,
} from '../../../../../queries/extension-rollouts/extension-rollout-view.ts';
import { rolloutProgress, rolloutProgressView } from '../../../../../queries/extension-rollouts/rollout-progress.ts';
import type { ExtensionRolloutEvent } from '../../../../contexts/extension-rollouts/domain/events.ts';
import { rolloutSlots, type RolloutState } from '../../../../contexts/extension-rollouts/domain/rollout.ts';
import { newRollout, rolloutChanges } from '../../../../contexts/extension-rollouts/domain/rollout-content.ts';
import type { Command } from '../../../../platform/kernel/command.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { pageQuery, paginatedView, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/extension-rollouts';
const params = z.object({ rolloutId: uuid() });
const SALT_BYTES = 16;

interface Move {
  readonly verb: 'start' | 'advance' | 'pause' | 'resume' | 'rollback';
  readonly command: Command<
    { readonly rolloutId: string },
    RolloutState,
    ExtensionRolloutEvent,
    unknown,
    undefined,
    void
  >;
  readonly summary: string;
  readonly operation?: string;
  readonly description: string;
  readonly refuses: readonly ('rollout_state' | 'rollout_overlaps')[];
}

const move = ({ verb, command, ...described }: Move) =>
  route({
    method: 'POST',
    path: `${base}/{rolloutId}/${verb}`,
    access: admin('updates:write'),
    ...described,
    params,
    response: extensionRolloutView,
    tagged: shownExtensionRollout,
    handle: async ({ run, ask, params: { rolloutId } }) => {
      await run(command, { rolloutId });
      return ask(getExtensionRollout, { rolloutId });
    },
  });

/** OP-511 to OP-516. */
export const extensionRolloutRoutes: RouteGroup = {
  area: 'updates',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('updates:read'),
      summary: 'List rollouts of the extension',
      description: 'Newest first, with drafts and ended ones.',
      query: z.object(pageQuery),
      response: z.object({ rollouts: z.array(extensionRolloutView), ...paginatedView }),
      handle: ({ ask, query }) => ask(listExtensionRollouts, toPage(query)),
    }),
    route({
      method: 'POST',
      path: base,
      access: admin('updates:write'),
      summary: 'Draft a rollout of the extension',
      operation: 'createExtensionRollout',
      description: `Tells no device anything before it is started. A stage has the devices of the stages before it, and its own. A tenant may have ${rolloutSlots.most} rollouts that have not ended (409).`,
      refuses: ['limit_reached'],
      body: newRollout,
      status: 201,
      response: extensionRolloutView,
      tagged: shownExtensionRollout,
      handle: async ({ run, created, body: content, fresh }) => {
        const salt = fresh.bytes('salt', SALT_BYTES).toString('hex');
        const executed = await run(draftExtensionRollout, { content, salt });
        const { rolloutId } = executed.result;
        return created(executed, getExtensionRollout, { rolloutId }, viewOfNewExtensionRollout(rolloutId));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{rolloutId}`,
      access: admin('updates:read'),
      summary: 'Get a rollout of the extension',
      params,
      response: extensionRolloutView,
      tagged: shownExtensionRollout,
      handle: ({ ask, params: { rolloutId } }) => ask(getExtensionRollout, { rolloutId }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{rolloutId}`,
      access: admin('updates:write'),
      summary: 'Change a draft of a rollout',
      operation: 'updateExtensionRollout',
      description: 'Fields that are left out keep their values. Only drafts change (409).',
      refuses: ['rollout_state'],
      params,
      body: rolloutChanges,
      response: extensionRolloutView,
      tagged: shownExtensionRollout,
      handle: async ({ run, ask, params: { rolloutId }, body: changes }) => {
        await run(changeExtensionRollout, { rolloutId, changes });
        return ask(getExtensionRollout, { rolloutId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{rolloutId}`,
      access: admin('updates:write'),
      summary: 'Delete a draft of a rollout',
      description: 'Only drafts are deleted (409).',
      refuses: ['rollout_state'],
      params,
      tagged: shownExtensionRollout,
      handle: async ({ run, params: { rolloutId } }) => {
        await run(deleteExtensionRollout, { rolloutId });
      },
    }),
    route({
      method: 'GET',
      path: `${base}/{rolloutId}/progress`,
      access: admin('updates:read'),
      summary: 'Get the progress of a rollout',
      description:
        'Devices in use by stage and reported version, at most 500 pairs, and the errors that a halt is decided by.',
      params,
      response: rolloutProgressView,
      handle: ({ ask, params: { rolloutId } }) => ask(rolloutProgress, { rolloutId }),
    }),
    move({
      verb: 'start',
      command: startExtensionRollout,
      summary: 'Start a rollout',
      description: 'Begins the first stage of a draft. One rollout at a time for each browser (409).',
      refuses: ['rollout_state', 'rollout_overlaps'],
    }),
    move({
      verb: 'advance',
      command: advanceExtensionRollout,
      summary: 'Begin the next stage of a rollout',
      operation: 'advanceExtensionRollout',
      description:
        'After the last stage, the rollout is complete and all devices of its browser get the version. Send `If-Match`, so that a stage that the service has just begun is not skipped.',
      refuses: ['rollout_state'],
    }),
    move({
      verb: 'pause',
      command: pauseExtensionRollout,
      summary: 'Pause a rollout',
      description: 'No further device moves on. Devices with the version keep it.',
      refuses: ['rollout_state'],
    }),
    move({
      verb: 'resume',
      command: resumeExtensionRollout,
      summary: 'Resume a paused or halted rollout',
      description: 'Goes on in the same stage. Errors and soak time count from now.',
      refuses: ['rollout_state'],
    }),
    move({
      verb: 'rollback',
      command: rollBackExtensionRollout,
      summary: 'Roll a rollout back',
      operation: 'rollBackExtensionRollout',
      description:
        'Ends it, also after its completion. Devices with its version return to `rollbackVersion`, if it has one.',
      refuses: ['rollout_state'],
    }),
  ],
};
