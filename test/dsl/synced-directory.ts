import {
  GOOGLE,
  googleKeyFile,
  GRAPH,
  OKTA_TOKEN,
  startGoogle,
  startGraph,
  startOkta,
  type DirectoryPeer,
  type PeerContent,
} from './directory-peers.ts';
import type { TestApp, TestTenant } from './app.ts';

/** Providers with an interface over HTTP. */
export const PROVIDERS = {
  entra_id: { start: startGraph, configFor: (url: string) => ({ ...GRAPH, loginUrl: url, graphUrl: url }) },
  google_workspace: {
    start: startGoogle,
    configFor: (url: string) => ({ ...GOOGLE, apiUrl: url, serviceAccountKey: googleKeyFile(url) }),
  },
  okta: { start: startOkta, configFor: (url: string) => ({ orgUrl: url, apiToken: OKTA_TOKEN }) },
} as const;

const BASE = '/api/v1/admin/directory-sources';
const LONGEST_MS = 60_000;

/** A tenant whose people come from a directory, as its administrator sees them. */
export class SyncedDirectory {
  readonly tenant: TestTenant;
  readonly peer: DirectoryPeer;
  readonly #app: TestApp;
  readonly #path: string;

  private constructor(app: TestApp, tenant: TestTenant, peer: DirectoryPeer, sourceId: string) {
    this.#app = app;
    this.tenant = tenant;
    this.peer = peer;
    this.#path = `${BASE}/${sourceId}`;
  }

  /** The application has to allow private addresses (`devMode`). */
  static async open(
    app: TestApp,
    content: PeerContent,
    type: keyof typeof PROVIDERS = 'entra_id',
  ): Promise<SyncedDirectory> {
    const tenant = await app.newTenant();
    const { start, configFor } = PROVIDERS[type];
    const peer = await start(content);
    const { body } = await tenant.admin.post(BASE, { name: 'Company', type, config: configFor(peer.url) });
    return new SyncedDirectory(app, tenant, peer, body.id as string);
  }

  /** The ended synchronization. */
  async sync(query = '') {
    const { body: begun } = await this.tenant.admin.post(`${this.#path}/sync${query}`, {});
    for (const until = Date.now() + LONGEST_MS; Date.now() < until; await new Promise((go) => setTimeout(go, 50))) {
      const { body } = await this.tenant.admin.get(`${this.#path}/syncs/${begun.syncId as string}`);
      if (body.syncState === 'syncing') continue;
      await this.#app.settled();
      return body;
    }
    throw new Error('the synchronization did not end');
  }

  async select(...groupIds: readonly string[]): Promise<void> {
    await this.tenant.admin.put(`${this.#path}/synced-groups`, { groupIds });
  }

  async person(email: string): Promise<{ id: string; displayName: string; status: string }> {
    const { body } = await this.tenant.admin.get('/api/v1/admin/users?page_size=100');
    return body.users.find((one: { email: string }) => one.email === email);
  }

  /** The groups that the directory owns, with the e-mails of their members. */
  async groups(): Promise<{ name: string; members: string[] }[]> {
    const { body } = await this.tenant.admin.get('/api/v1/admin/groups');
    const owned = (body.groups as { id: string; name: string; source: string }[]).filter(
      ({ source }) => source === 'directory',
    );
    return Promise.all(
      owned.map(async ({ id, name }) => {
        const { body: found } = await this.tenant.admin.get(`/api/v1/admin/groups/${id}/members`);
        return { name, members: (found.members as { email: string }[]).map(({ email }) => email).sort() };
      }),
    );
  }
}
