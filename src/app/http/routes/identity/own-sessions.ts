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

/** The sessions of the calling admin. An addition to the interface. */
export const ownSessionRoutes: RouteGroup<OwnSessionsRouteDependencies> = {
  area: 'admin-me',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: adminEvenUnlicensed('self:read'),
      summary: "List the calling admin's sessions",
      operation: 'listOwnSessions',
      description: 'Newest first.',
      response: z.object({ sessions: z.array(ownSessionView), total: z.int() }),
      handle: async ({ ask, services, principal: { tenantId, adminId, sessionId: currentId } }) => {
        // Sign-ins do not wait for this read model, but an admin who looks for an intruder must see every session.
        const head = await services.head();
        const [expiries] = await Promise.all([
          services.refreshTokens.expiries(tenantId, adminId),
          services.freshness.waitFor(['admin_sessions', 'admin_users'], head),
        ]);
        const { sessions } = await ask(listOwnSessions, { adminId, currentId, expiries });
        // The table still lists sessions whose identity provider was removed; the look-up knows that they have ended.
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
      summary: 'End all other sessions of the calling admin',
      operation: 'endOtherSessions',
      handle: async ({ run, principal: { adminId, sessionId: keptSessionId } }) => {
        await run(revokeOtherSessions, { adminId, keptSessionId });
      },
    }),
    route({
      method: 'DELETE',
      path: `${base}/{sessionId}`,
      access: adminEvenUnlicensed('self:write'),
      summary: 'End a session of the calling admin',
      operation: 'endOwnSession',
      description: 'May be the current one.',
      params: z.object({ sessionId: uuid() }),
      handle: async ({ run, services, params: { sessionId }, principal: { tenantId, adminId: subjectId } }) => {
        await run(revokeSession, { sessionId, subjectId });
        await services.refreshTokens.revokeSession(tenantId, sessionId);
      },
    }),
  ],
};
