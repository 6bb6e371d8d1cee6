import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import { sourceReleasing } from '../../employees/release-people.ts';
import { scimClientEvents } from '../domain/client-events.ts';

/** Another client may then provision the same people: while a link exists, that is a conflict (F275). */
export const whenScimClientDeletedReleasePeople = defineReaction({
  name: 'when-scim-client-deleted-release-people',
  lane: 'main',
  families: [scimClientEvents],
  on: {
    ScimClientDeleted: ({ tenantId, data: { clientId } }) => [
      { effects: [enqueue(sourceReleasing, { tenantId, kind: 'scim', sourceId: clientId })] },
    ],
  },
});
