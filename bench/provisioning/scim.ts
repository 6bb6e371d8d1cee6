import { randomUUID } from 'node:crypto';
import { createGroup } from '../../commands/groups/create-group.ts';
import { provisionEmployee } from '../../commands/employees/provision-employee.ts';
import { createScimClient } from '../../commands/scim/create-scim-client.ts';
import { digestOfClientSecret, newClientSecret } from '../../src/contexts/scim/domain/clients.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { startBenchApp, type BenchApp } from '../app.ts';
import { HttpClient } from '../http-client.ts';
import { alternate, compare, concurrently, median, perSecond, type Row } from '../measure.ts';
import { startPeer, type Peer } from '../peers/peer.ts';
import { adding, AT_ONCE, creating, finding, somePeople, timed, type Provisioned } from './scim-requests.ts';

const MANY = Number(process.env['PROVISIONED_USERS'] ?? 100_000);
const FEW = 1_000;
const MEMBERS = Number(process.env['PROVISIONED_MEMBERS'] ?? 50_000);

/** SCIM, compared with SCIMMY's routers over maps in memory. Ours is durable, with audit chain and read models. */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const peer = await startPeer('scimmy-process.ts', {});
  const ours = new HttpClient(app.url, AT_ONCE);
  const small = await tenantWith(app, FEW);
  await peer.ask({ users: FEW, members: 0 });
  const amongFew = await created(ours, peer, small.headers, 'users created at 8 clients', '>= 0.3');
  const big = await tenantWith(app, MANY);
  await peer.ask({ users: MANY, members: MEMBERS });
  const rows = [
    amongFew,
    // PostgreSQL then still vacuums, analyzes and writes back what it has just got.
    await created(ours, peer, small.headers, `users created right after ${MANY} others`, 'reported'),
    ...(await found(ours, peer, big, small)),
    ...(await added(app, ours, peer, big)),
  ];
  ours.close();
  await peer.stop();
  await app.stop();
  return rows;
}

interface ProvisionedTenant extends Provisioned {
  readonly tenantId: BenchApp['tenantId'];
  readonly clientId: string;
}

/** People are made by the command that the route runs: what is measured afterwards is the same. */
async function tenantWith(app: BenchApp, count: number): Promise<ProvisionedTenant> {
  const { tenantId } = await app.newTenant();
  const { services } = app;
  const actor = system('bench');
  const [clientId, secretId, secret] = [randomUUID(), randomUUID(), newClientSecret()];
  const client = { clientId, name: 'bench', profile: 'generic' as const, secretId, expiresAt: null };
  const scopes = ['scim:read', 'scim:write'] as const;
  const input = { ...client, scopes, secretDigest: digestOfClientSecret(secret) };
  orThrow(await services.executor.execute(createScimClient, input, { tenantId, actor }));
  const { token } = await services.scimTokens.issue({ tenantId, clientId, secretId, scopes });
  const source = { kind: 'scim', id: clientId } as const;
  const people = somePeople(count);
  let last = 0n;
  await concurrently(64, count, async (at) => {
    const { id: userId, userName } = people[at]!;
    const person = {
      userName,
      externalId: null,
      email: userName,
      displayName: userName,
      department: null,
      jobTitle: null,
      isActive: true,
      upn: null,
      sid: null,
      profile: {},
    };
    const { position } = orThrow(
      await services.executor.execute(
        provisionEmployee,
        { userId, source, person, ifLinked: 'refuse' },
        { tenantId, actor },
      ),
    );
    if (position! > last) last = position!;
  });
  await services.freshness.waitFor(['provisioned_people'], last, 120_000);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
  return { tenantId, clientId, headers, people };
}

async function created(
  ours: HttpClient,
  peer: Peer,
  headers: Record<string, string>,
  title: string,
  target: string,
): Promise<Row> {
  const create = creating(ours, headers);
  await concurrently(AT_ONCE, 500, create);
  await peer.ask({ creates: 500 });
  const ourRate = () => perSecond(1_000, () => concurrently(AT_ONCE, 1_000, create));
  const [our, their] = await alternate(3, [ourRate, () => peer.ask({ creates: 1_000 })]);
  return compare(title, 'requests/s', target, our!, their!, 'SCIMMY in memory');
}

const p95 = (took: readonly number[]): number => [...took].sort((a, b) => a - b)[Math.floor(took.length * 0.95)]!;

async function found(ours: HttpClient, peer: Peer, big: Provisioned, small: Provisioned): Promise<Row[]> {
  await timed(300, finding(ours, big));
  await timed(300, finding(ours, small));
  const ourRate = () => perSecond(300, () => timed(300, finding(ours, big)));
  const [our, their] = await alternate(3, [ourRate, () => peer.ask({ finds: 5 })]);
  const tail = (of: Provisioned) => async () => p95(await timed(300, finding(ours, of)));
  const [manyP95, fewP95] = await alternate(5, [tail(big), tail(small)]);
  return [
    compare(`userName eq among ${MANY} users`, 'requests/s', '>= 20', our!, their!, 'SCIMMY in memory'),
    compare(`p95 of userName eq among ${MANY} users`, 'ms', '<= 1.5', manyP95!, fewP95!, `among ${FEW} users`),
  ];
}

async function added(app: BenchApp, ours: HttpClient, peer: Peer, big: ProvisionedTenant): Promise<Row[]> {
  const { tenantId, clientId, people } = big;
  const groupOf = async (name: string, size: number): Promise<string> => {
    const userIds = people.slice(0, size).map(({ id }) => id);
    const owner = { kind: 'scim', id: clientId } as const;
    const input = { name, description: '', owner, externalId: null, userIds };
    const { result, position } = orThrow(
      await app.services.executor.execute(createGroup, input, { tenantId, actor: system('bench') }),
    );
    await app.services.freshness.waitFor(['groups', 'group_members'], position!, 120_000);
    return result.groupId;
  };
  const [large, tiny] = [await groupOf('large', MEMBERS), await groupOf('tiny', 10)];
  const add = adding(ours, big, MEMBERS);
  await timed(100, add(large));
  await timed(100, add(tiny));
  const p50 = (groupId: string) => async () => median(await timed(100, add(groupId)));
  const [ofLarge, ofTiny] = await alternate(5, [p50(large), p50(tiny)]);
  const ourRate = () => perSecond(100, () => timed(100, add(large)));
  const [our, their] = await alternate(3, [ourRate, () => peer.ask({ adds: 3 })]);
  return [
    compare(`p50 of PATCH that adds one to ${MEMBERS} members`, 'ms', '<= 2', ofLarge!, ofTiny!, 'to 10 members'),
    compare(`PATCH that adds one to ${MEMBERS} members`, 'requests/s', '>= 10', our!, their!, 'SCIMMY in memory'),
  ];
}
