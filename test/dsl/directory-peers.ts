import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, exportJWK, jwtVerify } from 'jose';

/** A directory's content, the same for every peer. */
export interface PeerPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly department: string;
  readonly title: string;
  readonly isActive: boolean;
}
export interface PeerGroup {
  readonly id: string;
  readonly name: string;
  /** Ids of people and of groups. */
  readonly members: readonly string[];
}
export interface PeerContent {
  people: readonly PeerPerson[];
  groups: readonly PeerGroup[];
}

export const personNumbered = (n: number, over: Partial<PeerPerson> = {}): PeerPerson => ({
  id: `id-${n}`,
  email: `person${n}@acme.example`,
  name: `Person ${n}`,
  department: 'Sales',
  title: 'Clerk',
  isActive: true,
  ...over,
});

/** Returns true if it has responded itself. */
export type Fault = (url: URL, response: ServerResponse, request: IncomingMessage) => boolean | Promise<boolean>;

const PAGE = 3;
const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Members of a group and of the groups in it. */
export function everybodyIn({ groups }: PeerContent, id: string, seen = new Set<string>()): string[] {
  if (seen.has(id)) return [];
  seen.add(id);
  const group = groups.find((one) => one.id === id);
  return (group?.members ?? []).flatMap((member) =>
    groups.some((one) => one.id === member) ? everybodyIn({ groups, people: [] }, member, seen) : [member],
  );
}

interface PeerProtocol {
  /** Responds to a token request; undefined if the peer has none. */
  token?(form: URLSearchParams, response: ServerResponse, origin: string): Promise<void>;
  isAuthorized(header: string | undefined): boolean;
  respond(url: URL, response: ServerResponse, content: PeerContent, origin: string): void;
}

async function startPeer(protocol: PeerProtocol, content: PeerContent) {
  const requests: string[] = [];
  let fault: Fault = () => false;
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const url = new URL(request.url!, origin);
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void (async () => {
        if (await fault(url, response, request)) return;
        if (request.method === 'POST' && protocol.token)
          return protocol.token(new URLSearchParams(Buffer.concat(chunks).toString()), response, origin);
        if (!protocol.isAuthorized(request.headers.authorization)) return json(response, {}, {}, 401);
        protocol.respond(url, response, content, origin);
      })();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    content,
    requests,
    /** Replaces the peer's behaviour. Without an argument it is well again. */
    misbehave: (other: Fault = () => false) => void (fault = other),
    close: () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}
export type DirectoryPeer = Awaited<ReturnType<typeof startPeer>>;

const groupNamed = (groups: readonly PeerGroup[], id: string) =>
  groups.find((one) => one.id === decodeURIComponent(id));

const sliceAt = <Item>(items: readonly Item[], at: number) => ({
  items: items.slice(at, at + PAGE),
  next: at + PAGE < items.length ? at + PAGE : undefined,
});

export const GRAPH = { directoryId: 'acme.example', clientId: 'app-1', clientSecret: 'graph-hush' };

export const graphUser = (one: PeerPerson): object => ({
  id: one.id,
  userPrincipalName: one.email,
  mail: one.email,
  displayName: one.name,
  department: one.department,
  jobTitle: one.title,
  accountEnabled: one.isActive,
  onPremisesSecurityIdentifier: null,
});

/** Microsoft Graph and its token endpoint. */
export const startGraph = (content: PeerContent) =>
  startPeer(
    {
      token: async (form, response) =>
        form.get('grant_type') === 'client_credentials' &&
        form.get('client_id') === GRAPH.clientId &&
        form.get('client_secret') === GRAPH.clientSecret
          ? json(response, { access_token: 'graph-token', token_type: 'Bearer', expires_in: 3599 })
          : json(response, { error: 'invalid_client' }, {}, 401),
      isAuthorized: (header) => header === 'Bearer graph-token',
      respond(url, response, { people, groups }, origin) {
        const at = Number(url.searchParams.get('$skiptoken') ?? 0);
        const more = (next: number) => `${origin}${url.pathname}?$skiptoken=${next}`;
        const [, , resource, id, part] = url.pathname.split('/');
        if (resource === 'groups' && id !== undefined) {
          const one = groupNamed(groups, id);
          if (!one) return json(response, {}, {}, 404);
          if (part === undefined) return json(response, { id: one.id, displayName: one.name });
        }
        if (resource === 'users' && id !== undefined && id !== 'delta') {
          const one = people.find((each) => each.id === decodeURIComponent(id));
          return one ? json(response, graphUser(one)) : json(response, {}, {}, 404);
        }
        if (resource === 'users') {
          const { items, next } = sliceAt(people, at);
          const value = items.map(graphUser);
          const end = next === undefined ? { '@odata.deltaLink': more(0) } : { '@odata.nextLink': more(next) };
          return json(response, { value, ...end });
        }
        const all = id
          ? everybodyIn({ people, groups }, decodeURIComponent(id)).map((member) => ({ id: member }))
          : groups.map((one) => ({ id: one.id, displayName: one.name }));
        const { items, next } = sliceAt<object>(all, at);
        json(response, { value: items, ...(next === undefined ? {} : { '@odata.nextLink': more(next) }) });
      },
    },
    content,
  );

const googleKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const GOOGLE = { domain: 'acme.example', adminEmail: 'admin@acme.example' };
export const googleKeyFile = (origin: string): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: 'reader@project.example',
    private_key_id: 'key-1',
    private_key: googleKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${origin}/token`,
  });

/** Google's Directory API and its token endpoint, which verifies the assertion. */
export const startGoogle = (content: PeerContent) =>
  startPeer(
    {
      async token(form, response, origin) {
        const jwk = { ...(await exportJWK(googleKeys.publicKey)), kid: 'key-1', alg: 'RS256' };
        const { payload } = await jwtVerify(form.get('assertion') ?? '', createLocalJWKSet({ keys: [jwk] }), {
          issuer: 'reader@project.example',
          subject: GOOGLE.adminEmail,
          audience: `${origin}/token`,
          requiredClaims: ['scope', 'exp', 'iat'],
        }).catch(() => ({ payload: undefined }));
        if (!payload) return json(response, { error: 'invalid_grant' }, {}, 400);
        json(response, { access_token: 'google-token', token_type: 'Bearer', expires_in: 3599 });
      },
      isAuthorized: (header) => header === 'Bearer google-token',
      respond(url, response, content_) {
        const { people, groups } = content_;
        const at = Number(url.searchParams.get('pageToken') ?? 0);
        const [, , , , resource, id, part] = url.pathname.split('/');
        const viewOf = (one: PeerGroup) => ({
          id: one.id,
          name: one.name,
          directMembersCount: String(one.members.length),
        });
        if (resource === 'groups' && id !== undefined) {
          const one = groupNamed(groups, id);
          if (!one) return json(response, { error: { code: 404 } }, {}, 404);
          if (part === undefined) return json(response, viewOf(one));
        }
        const reply = (name: string, all: readonly unknown[]) => {
          const { items, next } = sliceAt(all, at);
          // Empty lists are left out.
          json(response, {
            ...(items.length > 0 ? { [name]: items } : {}),
            ...(next === undefined ? {} : { nextPageToken: String(next) }),
          });
        };
        if (resource === 'users')
          return reply(
            'users',
            people.map((one) => ({
              id: one.id,
              primaryEmail: one.email,
              name: { fullName: one.name },
              suspended: !one.isActive,
              organizations: [{ department: one.department, title: one.title, primary: true }],
            })),
          );
        if (id)
          return reply(
            'members',
            everybodyIn(content_, decodeURIComponent(id)).map((member) => ({ id: member, type: 'USER' })),
          );
        reply('groups', groups.map(viewOf));
      },
    },
    content,
  );

export const OKTA_TOKEN = 'okta-hush';

/** Okta's Users and Groups API. Its groups contain no groups. */
export const startOkta = (content: PeerContent) =>
  startPeer(
    {
      isAuthorized: (header) => header === `SSWS ${OKTA_TOKEN}`,
      respond(url, response, content_, origin) {
        const { people, groups } = content_;
        const at = Number(url.searchParams.get('after') ?? 0);
        const [, , , resource, id, part] = url.pathname.split('/');
        const viewOf = (one: PeerGroup) => ({ id: one.id, profile: { name: one.name } });
        if (resource === 'groups' && id !== undefined) {
          const one = groupNamed(groups, id);
          if (!one) return json(response, { errorCode: 'E0000007' }, {}, 404);
          if (part === undefined) return json(response, viewOf(one));
        }
        const reply = (all: readonly unknown[]) => {
          const { items, next } = sliceAt(all, at);
          const self = `<${origin}${url.pathname}?limit=200>; rel="self"`;
          const more = next === undefined ? '' : `, <${origin}${url.pathname}?after=${next}&limit=200>; rel="next"`;
          json(response, items, { link: self + more });
        };
        const view = (one: PeerPerson) => ({
          id: one.id,
          status: one.isActive ? 'ACTIVE' : 'SUSPENDED',
          profile: {
            login: one.email,
            email: one.email,
            firstName: one.name.split(' ')[0],
            lastName: one.name.split(' ').slice(1).join(' '),
            department: one.department,
            title: one.title,
          },
        });
        if (resource === 'users') return reply(people.map(view));
        const members = new Set(everybodyIn(content_, decodeURIComponent(id ?? '')));
        if (id) return reply(people.filter((one) => members.has(one.id)).map(view));
        reply(groups.map(viewOf));
      },
    },
    content,
  );
