import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../fixtures/webhook-receiver.ts';
import { OTHER_ALERTS } from '../dsl/notified.ts';
import { ask } from '../faults/harness/ask.ts';
import { Installation, ONE_OF_EACH } from '../faults/harness/installation.ts';
import { startLogReceivers, type LogReceiver } from '../faults/harness/log-receivers.ts';
import { PostgresCluster } from '../faults/harness/postgres-cluster.ts';
import { missing } from '../faults/harness/programs.ts';
import { all } from '../faults/harness/responses.ts';
import { rounds, timeoutMs } from '../faults/harness/rounds.ts';
import { until } from '../faults/harness/until.ts';
import { Writers } from '../faults/harness/writers.ts';

const lacking = missing({ postgres: true });
const KILLS = rounds(2);
const LONGEST_PAUSE_MS = 1_500;
const FORWARDED_MS = 60_000;
/** The attempts of a killed process are held for a minute, and found by a sweep after it. */
const DELIVERED_MS = 180_000;
const NOTIFICATIONS = '/api/v1/admin/alert-notifications';

/** What a webhook tells, and what a log destination gets, of an alert. */
const TOLD = ['AlertRaised', 'AlertResolved'];

interface Told {
  readonly id: string;
  readonly type: string;
  readonly alertId: string;
}

/** Longer than the lease of a process that was killed: until then its reactions may stand still, and raise alerts later. */
const QUIET_MS = 10_000;

async function untilQuiet<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let known = await read(); ;) {
    await sleep(QUIET_MS);
    const now = await read();
    if (now.length === known.length) return now;
    known = now;
  }
}

/** Everything that leaves, while the processes that send it are killed at random moments. */
describe.skipIf(lacking)(`deliveries${lacking}`, () => {
  let cluster: PostgresCluster;
  let installation: Installation;
  let webhook: WebhookReceiver;
  let receivers: LogReceiver[];
  beforeAll(async () => {
    cluster = await PostgresCluster.create();
    installation = await Installation.start({ cluster, nodes: ONE_OF_EACH, env: { DEV_MODE: 'true' } });
    webhook = await startWebhookReceiver();
    await put('webhook-secret', { secret: randomBytes(32).toString('base64') });
    await put('settings', {
      webhookEnabled: true,
      webhookUrl: webhook.url,
      minSeverity: 'low',
      alertTypes: OTHER_ALERTS,
    });
    receivers = await startLogReceivers(installation);
  }, 120_000);
  afterAll(async () => {
    await installation.stop();
    await Promise.all([webhook.close(), ...receivers.map(({ close }) => close()), cluster.destroy()]);
  });

  const put = async (path: string, body: object) => {
    const { status, text } = await ask(`${installation.api.url}${NOTIFICATIONS}/${path}`, {
      method: 'PUT',
      headers: await installation.provenHeaders(),
      body,
    });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  };

  /** Without the alerts about the destinations themselves: those added later do not get them. */
  const told = (): Promise<readonly Told[]> =>
    cluster.query<Told>(
      `select id::text, type, data->>'alertId' as "alertId" from events
        where type in (${TOLD.map((type) => `'${type}'`).join(', ')})
          and data->>'alertId' not in (select data->>'alertId' from events
                                        where type = 'AlertRaised' and data->>'alertType' = 'policy_violation')
        order by position`,
      installation.database,
    );

  const pending = async (): Promise<number> => {
    const url = `${installation.api.url}${NOTIFICATIONS}/deliveries?state=pending`;
    const { body } = await ask(url, { headers: installation.headers });
    return (body.deliveries as unknown[]).length;
  };

  it(
    `reach every receiver, those of logs in order, and have receipts, after ${KILLS} kills`,
    { timeout: timeoutMs(KILLS) },
    async () => {
      const senders = installation.nodes.filter(({ role }) => role !== 'api');
      const writers = new Writers(installation.journal, installation.written);
      try {
        for (let kill = 0; kill < KILLS; kill += 1) {
          await sleep(Math.random() * LONGEST_PAUSE_MS);
          const node = senders[kill % senders.length]!;
          installation.away.add(node);
          await node.kill();
          node.start();
          await node.ready();
          installation.away.delete(node);
        }
      } finally {
        await writers.stop();
      }
      await installation.signIn();
      const events = await untilQuiet(told);
      const ids = events.map(({ id }) => id);
      expect(events.length).toBeGreaterThan(KILLS);

      const lacksOf = () =>
        receivers.flatMap(({ name, ids: arrived }) => {
          const there = new Set(arrived());
          const lacks = ids.filter((id) => !there.has(id));
          return lacks.length > 0 ? [`${name} lacks ${lacks.length} of ${ids.length}`] : [];
        });
      await until(
        () => lacksOf().join('; '),
        FORWARDED_MS,
        () => lacksOf().length === 0,
      );
      const receiptsOf = () =>
        all<{ messageId: string; state: string }>(installation.written, `${NOTIFICATIONS}/deliveries`, 'deliveries');
      // A delivery that is not planned yet is not pending either.
      await until('every event has a receipt', DELIVERED_MS, async () => (await receiptsOf()).length >= ids.length);
      await until('no delivery is pending', DELIVERED_MS, async () => (await pending()) === 0);

      const known = new Set(ids);
      for (const { name, ids: arrived } of receivers) {
        const first = [...new Set(arrived())].filter((id) => known.has(id));
        expect([name, first]).toEqual([name, ids]);
      }
      const messages = webhook.received.map(({ headers, body }) => ({
        id: String(headers['webhook-id']),
        type: (JSON.parse(body) as { type: string }).type,
        alertId: (JSON.parse(body) as { data: { alert: { id: string } } }).data.alert.id,
      }));
      const distinct = new Map(messages.map((message) => [message.id, message]));
      const summary = ({ type, alertId }: { type: string; alertId: string }) => `${type} ${alertId}`;
      const expected = events.map(({ type, alertId }) =>
        summary({ type: type === 'AlertRaised' ? 'alert.created' : 'alert.updated', alertId }),
      );
      expect([...distinct.values()].map(summary).toSorted()).toEqual(expected.toSorted());
      const receipts = await receiptsOf();
      expect(receipts.filter(({ state }) => state !== 'delivered')).toEqual([]);
      expect(receipts.map(({ messageId }) => messageId).toSorted()).toEqual([...distinct.keys()].toSorted());
    },
  );
});
