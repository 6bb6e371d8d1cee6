import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpPushPeer } from '../fixtures/push-peers.ts';
import { ask } from '../faults/harness/ask.ts';
import { breach } from '../faults/harness/browser.ts';
import { Installation, ONE_OF_EACH } from '../faults/harness/installation.ts';
import { PostgresCluster } from '../faults/harness/postgres-cluster.ts';
import { missing } from '../faults/harness/programs.ts';
import { RedisServer } from '../faults/harness/redis.ts';
import { all } from '../faults/harness/responses.ts';
import { rounds, timeoutMs } from '../faults/harness/rounds.ts';
import { until } from '../faults/harness/until.ts';

const lacking = missing({ postgres: true, redis: true });
const KILLS = rounds(2);
const LONGEST_PAUSE_MS = 4_000;
/** The timer of the schedule, and some time beyond it. */
const DUE_MS = 62_000;
/** A sweep finds a due page, and the attempt of a killed process is held for a minute. */
const FOUND_MS = 180_000;
const ADMIN = '/api/v1/admin';

interface Step {
  readonly type: string;
  readonly step: string | null;
}

/** Timers of pages, while the processes that look after them are killed, and Redis loses all jobs. */
describe.skipIf(lacking)(`pages${lacking}`, () => {
  let cluster: PostgresCluster;
  let redis: RedisServer;
  let installation: Installation;
  let gateway: Awaited<ReturnType<typeof startHttpPushPeer>>;
  beforeAll(async () => {
    gateway = await startHttpPushPeer();
    cluster = await PostgresCluster.create();
    redis = await RedisServer.reserve();
    await redis.start();
    installation = await Installation.start({
      cluster,
      redis,
      nodes: ONE_OF_EACH,
      env: { PUSH_GATEWAY_URL: gateway.url },
    });
  }, 300_000);
  afterAll(async () => {
    await installation?.stop();
    await Promise.all([gateway?.close(), redis?.stop(), cluster?.destroy()]);
  });

  const send = async (method: string, path: string, body: object): Promise<{ id: string }> => {
    const url = `${installation.api.url}${ADMIN}${path}`;
    const reply = await ask(url, { method, headers: installation.headers, body });
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
    return reply.body as { id: string };
  };
  const steps = async (): Promise<string[]> => {
    const recorded = await cluster.query<Step>(
      "select type, data->>'step' as step from events where type like 'Page%' order by position",
      installation.database,
    );
    return recorded.map(({ type, step }) => (step === null ? type : `${type} ${step}`));
  };
  const behind = () => installation.nodes.filter(({ role }) => role !== 'api');
  const kill = async () => {
    for (const node of behind()) {
      installation.away.add(node);
      await node.kill();
    }
  };
  const revive = async () => {
    for (const node of behind()) node.start();
    for (const node of behind()) await node.ready();
    installation.away.clear();
  };

  it(
    'are called once for each step, and reach the phone, whatever dies between two steps',
    { timeout: timeoutMs(KILLS) + 600_000 },
    async () => {
      const me = await ask(`${installation.api.url}${ADMIN}/me`, { headers: installation.headers });
      await send('PUT', '/alert-notifications/settings', { pushEnabled: true });
      await send('POST', '/alert-notifications/push-rules', { name: 'Everything' });
      await send('POST', '/mobile/devices', { platform: 'android', pushToken: `token-${randomUUID()}` });
      await send('PUT', '/mobile/preferences', { minSeverity: 'low' });
      await send('POST', '/on-call/schedules', {
        name: 'Primary',
        participants: [me.body.id as string],
        startDate: new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10),
        escalationMinutes: 1,
        escalationRounds: 2,
      });

      // Between the alert and the first call.
      await installation.browsers[0]!.report([breach(`${randomUUID()}.example`)], 8_000);
      await sleep(Math.random() * 500);
      await kill();
      await revive();
      const firstStep = ['PageStarted', 'PagePersonCalled 1'];
      await until('the person on call is called', FOUND_MS, async () => (await steps()).length >= firstStep.length);

      // The timer runs out while nothing runs, and Redis loses all jobs and schedules.
      await kill();
      await redis.empty();
      await sleep(DUE_MS);
      expect(await steps()).toEqual(firstStep);
      await revive();
      await until('the second round calls', FOUND_MS, async () => (await steps()).length > firstStep.length);

      // Kills at random moments around the next timer.
      await sleep(DUE_MS - 10_000);
      for (let n = 0; n < KILLS; n += 1) {
        await sleep(Math.random() * LONGEST_PAUSE_MS);
        await kill();
        await revive();
      }
      await until('nobody is left', FOUND_MS, async () => (await steps()).includes('PageExhausted'));
      await installation.signIn();
      const deliveries = () =>
        all<{ messageId: string; state: string }>(
          installation.written,
          `${ADMIN}/alert-notifications/deliveries`,
          'deliveries',
        );
      await until('all messages are delivered', FOUND_MS, async () => {
        const planned = await deliveries();
        return planned.length >= 3 && planned.every(({ state }) => state === 'delivered');
      });
      expect(await steps()).toEqual([...firstStep, 'PagePersonCalled 2', 'PageExhausted']);
      const receipts = (await deliveries()).map(({ messageId }) => messageId).toSorted();
      expect(receipts).toHaveLength(3);
      const arrived = gateway.messages.requests.map(({ body }) => (JSON.parse(body) as { id: string }).id);
      expect([...new Set(arrived)].toSorted()).toEqual(receipts);
    },
  );
});
