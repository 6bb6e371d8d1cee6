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
import { startScimmy } from '../peers/scimmy.ts';

const MANY = Number(process.env['PROVISIONED_USERS'] ?? 100_000);
const FEW = 1_000;
const MEMBERS = Number(process.env['PROVISIONED_MEMBERS'] ?? 50_000);
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const AT_ONCE = 8;

/** SCIM, compared with SCIMMY's routers over maps in memory. Ours is durable, with audit chain and read models. */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const peer = await startScimmy();
  const big = await tenantWith(app, MANY);
  const small = await tenantWith(app, FEW);
  for (const { id, userName } of big.people) peer.users.set(id, { id, userName, active: true, schemas: [USER] });
  const [ours, theirs] = [new HttpClient(app.url, AT_ONCE), new HttpClient(peer.url, AT_ONCE)];
  const rows = [
    await creating(ours, theirs, small.headers),
    ...(await finding(ours, theirs, big, small)),
    ...(await adding(app, peer, ours, theirs, big)),
  ];
  ours.close();
  theirs.close();
  await peer.stop();
  await app.stop();
  return rows;
}

interface Provisioned {
  readonly tenantId: BenchApp['tenantId'];
  readonly clientId: string;
  readonly headers: Record<string, string>;
  readonly people: readonly { readonly id: string; readonly userName: string }[];
}

/** People are made by the command that the route runs: what is measured afterwards is the same. */
async function tenantWith(app: BenchApp, count: number): Promise<Provisioned> {
  const { tenantId } = await app.newTenant();
  const { services } = app;
  const actor = system('bench');
  const [clientId, secretId, secret] = [randomUUID(), randomUUID(), newClientSecret()];
  const client = { clientId, name: 'bench', profile: 'generic' as const, secretId, expiresAt: null };
  const scopes = ['scim:read', 'scim:write'] as const;
  const input = { ...client, scopes, secretDigest: digestOfClientSecret(secret) };
  orThrow(await services.executor.execute(createScimClient, input, { tenantId, actor }));
  const token = await services.scimTokens.issue({ tenantId, clientId, secretId, scopes });
  const source = { kind: 'scim', id: clientId } as const;
  const people = Array.from({ length: count }, (_, at) => ({
    id: randomUUID(),
    userName: `person-${at}@acme.example`,
  }));
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

const expecting = (wanted: number) => (answer: { status: number; body: string }) => {
  if (answer.status !== wanted) throw new Error(`${answer.status} instead of ${wanted}: ${answer.body.slice(0, 300)}`);
};

async function creating(ours: HttpClient, theirs: HttpClient, headers: Record<string, string>): Promise<Row> {
  const body = () => JSON.stringify({ schemas: [USER], userName: `${randomUUID()}@acme.example`, active: true });
  const create = (client: HttpClient) => () =>
    client.send('POST', '/scim/v2/Users', headers, body()).then(expecting(201));
  await concurrently(AT_ONCE, 500, create(ours));
  await concurrently(AT_ONCE, 500, create(theirs));
  const rate = (client: HttpClient) => () => perSecond(1_000, () => concurrently(AT_ONCE, 1_000, create(client)));
  const [our, their] = await alternate(3, [rate(ours), rate(theirs)]);
  return compare('users created at 8 clients', 'requests/s', '>= 0.3', our!, their!, 'SCIMMY in memory');
}

const timed = async (count: number, call: (n: number) => Promise<unknown>): Promise<number[]> => {
  const took: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const started = performance.now();
    await call(n);
    took.push(performance.now() - started);
  }
  return took;
};
const p95 = (took: readonly number[]): number => [...took].sort((a, b) => a - b)[Math.floor(took.length * 0.95)]!;

async function finding(ours: HttpClient, theirs: HttpClient, big: Provisioned, small: Provisioned): Promise<Row[]> {
  const find =
    (client: HttpClient, { headers, people }: Provisioned) =>
    (n: number) => {
      const { userName } = people[(n * 7_919) % people.length]!;
      const path = `/scim/v2/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`;
      return client.send('GET', path, headers).then(expecting(200));
    };
  await timed(300, find(ours, big));
  await timed(300, find(ours, small));
  const rate = (client: HttpClient, count: number) => () => perSecond(count, () => timed(count, find(client, big)));
  const [our, their] = await alternate(3, [rate(ours, 300), rate(theirs, 5)]);
  const tail = (of: Provisioned) => async () => p95(await timed(300, find(ours, of)));
  const [manyP95, fewP95] = await alternate(5, [tail(big), tail(small)]);
  return [
    compare(`userName eq among ${MANY} users`, 'requests/s', '>= 20', our!, their!, 'SCIMMY in memory'),
    compare(`p95 of userName eq among ${MANY} users`, 'ms', '<= 1.5', manyP95!, fewP95!, `among ${FEW} users`),
  ];
}

async function adding(
  app: BenchApp,
  peer: Awaited<ReturnType<typeof startScimmy>>,
  ours: HttpClient,
  theirs: HttpClient,
  { tenantId, clientId, headers, people }: Provisioned,
): Promise<Row[]> {
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
  const members = people.slice(0, MEMBERS).map(({ id: value }) => ({ value }));
  peer.groups.set(large, { id: large, displayName: 'large', members });
  let next = MEMBERS;
  const add = (client: HttpClient, groupId: string) => () => {
    const { id } = people[next++ % people.length]!;
    const Operations = [{ op: 'add', path: 'members', value: [{ value: id }] }];
    const body = JSON.stringify({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
    return client.send('PATCH', `/scim/v2/Groups/${groupId}`, headers, body).then(({ status, body: text }) => {
      if (status !== 200 && status !== 204) throw new Error(`${status}: ${text.slice(0, 300)}`);
    });
  };
  await timed(100, add(ours, large));
  await timed(100, add(ours, tiny));
  const p50 = (client: HttpClient, groupId: string, count: number) => async () =>
    median(await timed(count, add(client, groupId)));
  const [ofLarge, ofTiny] = await alternate(5, [p50(ours, large, 100), p50(ours, tiny, 100)]);
  const rate = (client: HttpClient, count: number) => () => perSecond(count, () => timed(count, add(client, large)));
  const [our, their] = await alternate(3, [rate(ours, 100), rate(theirs, 3)]);
  return [
    compare(`p50 of PATCH that adds one to ${MEMBERS} members`, 'ms', '<= 2', ofLarge!, ofTiny!, 'to 10 members'),
    compare(`PATCH that adds one to ${MEMBERS} members`, 'requests/s', '>= 10', our!, their!, 'SCIMMY in memory'),
  ];
}
