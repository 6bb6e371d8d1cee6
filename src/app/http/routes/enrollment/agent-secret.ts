import { z } from 'zod';
import { issueAgentSecret } from '../../../../../commands/enrollment/issue-agent-secret.ts';
import { removeAgentSecret } from '../../../../../commands/enrollment/remove-agent-secret.ts';
import { agentSecretStatus, agentSecretStatusView } from '../../../../../queries/enrollment/agent-secret-status.ts';
import { digestOfAgentSecret, newAgentSecret } from '../../../../contexts/enrollment/domain/agent-secret.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { route, type RouteGroup } from '../../route.ts';

const path = '/api/v1/admin/enrollment/agent-secret';
const WEEK_HOURS = 7 * 24;
const MAX_OVERLAP_HOURS = 90 * 24;

/** The tenant's secret, which agents send as `X-Enrollment-Secret` when they enroll by themselves. */
export const agentSecretRoutes: RouteGroup = {
  area: 'enrollment-admin',
  routes: [
    route({
      method: 'GET',
      path,
      access: admin('enrollment:read'),
      summary: 'Get the status of the agent secret',
      description: 'Whether agents can enroll by themselves, and when the secret was last rotated; never the secret.',
      response: agentSecretStatusView,
      handle: ({ ask }) => ask(agentSecretStatus, { now: Date.now() }),
    }),
    route({
      method: 'POST',
      path,
      access: adminReauthenticated('enrollment:write'),
      summary: 'Set or rotate the agent secret',
      description:
        'The response contains the secret, once. The previous secret stays valid for `overlapHours` (0 to 2160, 168 by default); older ones end.',
      body: z.object({ overlapHours: z.int().min(0).max(MAX_OVERLAP_HOURS).default(WEEK_HOURS) }).nullish(),
      status: 201,
      response: z.object({ id: z.uuid(), secret: z.string(), previousExpiresAt: z.iso.datetime().nullable() }),
      handle: async ({ run, body, fresh }) => {
        const [id, secret] = [fresh.id('secret'), newAgentSecret((size) => fresh.bytes('secret', size))];
        const { result } = await run(issueAgentSecret, {
          secretId: id,
          secretDigest: digestOfAgentSecret(secret),
          overlapHours: body?.overlapHours ?? WEEK_HOURS,
        });
        return { id, secret, previousExpiresAt: result.previousExpiresAt };
      },
    }),
    route({
      method: 'DELETE',
      path,
      access: adminReauthenticated('enrollment:write'),
      summary: 'Remove all agent secrets',
      operation: 'removeEnrollmentAgentSecrets',
      refuses: ['not_found'],
      description: 'No agent can enroll by itself any more. 404 if there is none.',
      handle: async ({ run }) => {
        await run(removeAgentSecret, { secretId: null });
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{secretID}`,
      access: adminReauthenticated('enrollment:write'),
      summary: 'Remove one agent secret',
      description: 'For example the previous one, after a rotation.',
      params: z.object({ secretID: uuid() }),
      handle: async ({ run, params: { secretID: secretId } }) => {
        await run(removeAgentSecret, { secretId });
      },
    }),
  ],
};
