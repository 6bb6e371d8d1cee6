import { z } from 'zod';
import type { CommandPorts } from '../../../../../commands/ports.ts';
import { revokeSession } from '../../../../../commands/identity/revoke-session.ts';
import { ownSessionView, type OwnSessions } from '../../../../../queries/identity/list-own-sessions.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';
import type { Command } from '../../../../platform/kernel/command.ts';
import type { DomainEvent, Position } from '../../../../platform/kernel/event.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import type { ReadModelName } from '../../../../platform/kernel/read-model-name.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { Access } from '../../access.ts';
import { routeWith, type AnyRoute } from '../../route.ts';

export interface SessionRouteDependencies {
  readonly freshness: Freshness;
  readonly refreshTokens: RefreshTokens;
  readonly lookups: Lookups;
  head(): Promise<Position>;
}

const route = routeWith<SessionRouteDependencies>();

type AccountAccess = Extract<Access, { kind: 'admin' | 'org' }>;

/** What differs between the sessions of a tenant's and of an organization's administrator. */
interface AccountSessions<State, E extends DomainEvent> {
  readonly path: string;
  readonly access: { readonly read: AccountAccess; readonly change: AccountAccess };
  readonly list: OwnSessions;
  /** The read model with the account's valid epoch of sessions. */
  readonly accounts: ReadModelName;
  isLive(lookups: Lookups, tenantId: TenantId, sessionId: string): Promise<boolean>;
  readonly revokeOthers: Command<
    { readonly adminId: string; readonly keptSessionId: string },
    State,
    E,
    CommandPorts,
    undefined,
    void
  >;
  readonly operations: { readonly list: string; readonly endOthers: string; readonly end: string };
}

/** The sessions of the calling account. An addition to the interface. */
export const accountSessionRoutes = <State, E extends DomainEvent>({
  path,
  access,
  list,
  accounts,
  isLive,
  revokeOthers,
  operations,
}: AccountSessions<State, E>): readonly AnyRoute<SessionRouteDependencies>[] => [
  route({
    method: 'GET',
    path,
    access: access.read,
    summary: "List the calling admin's sessions",
    operation: operations.list,
    description: 'Newest first.',
    response: z.object({ sessions: z.array(ownSessionView), total: z.int() }),
    handle: async ({ ask, services, principal: { tenantId, adminId, sessionId: currentId } }) => {
      // Sign-ins do not wait for this read model, but an admin who looks for an intruder must see every session.
      const head = await services.head();
      const [expiries] = await Promise.all([
        services.refreshTokens.expiries(tenantId, adminId),
        services.freshness.waitFor(['admin_sessions', accounts], head),
      ]);
      const { sessions: known } = await ask(list, { adminId, currentId, expiries });
      // The table still lists sessions whose identity provider was removed; the look-up knows that they have ended.
      const live = await Promise.all(known.map(({ id }) => isLive(services.lookups, tenantId, id)));
      const sessions = known.filter((_, index) => live[index]);
      return { sessions, total: sessions.length };
    },
  }),
  route({
    method: 'DELETE',
    path,
    access: access.change,
    summary: 'End all other sessions of the calling admin',
    operation: operations.endOthers,
    handle: async ({ run, principal: { adminId, sessionId: keptSessionId } }) => {
      await run(revokeOthers, { adminId, keptSessionId });
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{sessionId}`,
    access: access.change,
    summary: 'End a session of the calling admin',
    operation: operations.end,
    description: 'May be the current one.',
    params: z.object({ sessionId: uuid() }),
    handle: async ({ run, services, params: { sessionId }, principal: { tenantId, adminId: subjectId } }) => {
      await run(revokeSession, { sessionId, subjectId });
      await services.refreshTokens.revokeSession(tenantId, sessionId);
    },
  }),
];
