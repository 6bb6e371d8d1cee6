import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

type Stored = Record<string, unknown> & { id: string };

/**
 * The Express routers of SCIMMY over maps in memory: what its documentation shows, with a filter by its own engine.
 * Nothing is durable, and nothing is audited.
 */
export async function startScimmy() {
  const [users, groups] = [new Map<string, Stored>(), new Map<string, Stored>()];
  const handlersOf = (store: Map<string, Stored>) => ({
    egress: (resource: { id?: string; filter?: { match(values: Stored[]): Stored[] } }) => {
      if (resource.id !== undefined) {
        const found = store.get(resource.id);
        if (!found) throw new SCIMMY.Types.Error(404, null as never, 'not found');
        return found;
      }
      const all = [...store.values()];
      return resource.filter ? resource.filter.match(all) : all;
    },
    ingress: (resource: { id?: string }, data: Record<string, unknown>) => {
      const id = resource.id ?? randomUUID();
      const stored = { ...(JSON.parse(JSON.stringify(data)) as Record<string, unknown>), id };
      store.set(id, stored);
      return stored;
    },
    degress: (resource: { id?: string }) => void store.delete(resource.id!),
  });
  const declare = SCIMMY.Resources.declare as unknown as (type: unknown, handlers: object) => void;
  declare(SCIMMY.Resources.User, handlersOf(users));
  declare(SCIMMY.Resources.Group, handlersOf(groups));
  const app = express();
  const Routers = SCIMMYRouters as unknown as new (options: object) => express.RequestHandler;
  app.use('/scim/v2', new Routers({ type: 'bearer', handler: () => 'bench' }));
  const server = app.listen(0, '127.0.0.1');
  // Otherwise it closes connections while the other side is measured.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    users,
    groups,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
