import { z } from 'zod';
import { revokeOtherSessions } from '../../../../../commands/identity/revoke-other-sessions.ts';
import { revokeSession } from '../../../../../commands/identity/revoke-session.ts';
import { listOwnSessions, ownSessionView } from '../../../../../queries/identity/list-own-sessions.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { adminEvenUnlicensed } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Position } from '../../../../platform/kernel/event.ts';

export interface OwnSessionsRouteDependencies {
  readonly freshness: Freshness;
  readonly refreshTokens: RefreshTokens;
  readonly lookups: Lookups;
  head(): Promise<Position>;
}

const route = routeWith<OwnSessionsRouteDependencies>();

const base = '/api/v1/admin/me/sessions';

/** Where the calling admin is signed in, and the way to end it. Not in the interface: an addition. */
export const ownSessionRoutes: RouteGroup<OwnSessionsRouteDependencies> = {
  area: 'admin-me',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: adminEvenUnlicensed('self:read'),
      summary: "The calling admin's sessions, newest first",
      response: z.object({ sessions: z.array(ownSessionView), total: z.int() }),
      handle: async ({ ask, services, principal: { tenantId, adminId, sessionId: currentId } }) => {
        // No sign-in waits for this list, and whoever looks for a stranger in it must see all that there are.
        const head = await services.head();
        const [expiries] = await Promise.all([
          services.refreshTokens.expiries(tenantId, adminId),
          services.freshness.waitFor(['admin_sessions', 'admin_users'], head),
        ]);
        const { sessions } = await ask(listOwnSessions, { adminId, currentId, expiries });
        // Of some the table does not know that they are over: those whose provider is none any more.
        const live = await Promise.all(
          sessions.map(async (session) =>
            (await services.lookups.adminSession(tenantId, session.id)) ? [session] : [],
          ),
        );
        const good = live.flat();
        return { sessions: good, total: good.length };
      },
    }),
    route({
      method: 'DELETE',
      path: base,
      access: adminEvenUnlicensed('self:write'),
      summary: 'End every session of the calling admin but this one',
      handle: async ({ run, principal: { adminId, sessionId: keptSessionId } }) => {
        await run(revokeOtherSessions, { adminId, keptSessionId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{sessionId}`,
      access: adminEvenUnlicensed('self:write'),
      summary: 'End one session of the calling admin; it may be this one',
      params: z.object({ sessionId: uuid() }),
      handle: async ({ run, services, params: { sessionId }, principal: { tenantId, adminId: subjectId } }) => {
        await run(revokeSession, { sessionId, subjectId });
        await services.refreshTokens.revokeSession(tenantId, sessionId);
      },
    }),
  ],
};
