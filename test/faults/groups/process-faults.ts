import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { ask } from '../harness/ask.ts';
import type { Installation } from '../harness/installation.ts';
import { timeoutMs, rounds } from '../harness/rounds.ts';
import type { ServiceNode } from '../harness/service-node.ts';
import { underWrites } from '../harness/under-writes.ts';
import { until } from '../harness/until.ts';

const KILLS = rounds(1);
/** Longer than a lease, so that the other projector has taken over. */
const FROZEN_MS = 7_000;
const TAKE_OVER_MS = 20_000;

/** Processes of the service are killed or frozen, alone and together with the database. */
export function processFaults(installation: () => Installation): void {
  it(
    `loses nothing when each of its processes is killed in turn and started again, ${KILLS} times`,
    { timeout: timeoutMs(2 * KILLS) },
    async () => {
      await underWrites(
        installation(),
        async () => {
          for (const node of installation().nodes) await killed(installation(), [node], () => node.start());
        },
        { rounds: KILLS },
      );
    },
  );

  it(
    `loses nothing when all of its processes and the database are killed at once, ${KILLS} times`,
    { timeout: timeoutMs(KILLS) },
    async () => {
      const { cluster, nodes } = installation();
      await underWrites(
        installation(),
        () =>
          killed(installation(), nodes, async () => {
            await cluster.crash();
            await cluster.start();
            for (const node of nodes) node.start();
          }),
        { rounds: KILLS },
      );
    },
  );

  it(
    'continues when a leader is frozen past its lease, and ignores it when it is resumed',
    { timeout: timeoutMs(2) },
    async () => {
      const projectors = installation().nodes.filter(({ role }) => role === 'projector');
      await underWrites(installation(), async () => {
        // One of them leads, and the other one after it.
        for (const projector of projectors) {
          installation().away.add(projector);
          projector.freeze();
          await sleep(FROZEN_MS);
          await until('the other projector has taken over', TAKE_OVER_MS, () => isProjected(installation()));
          projector.thaw();
          installation().away.delete(projector);
        }
      });
    },
  );
}

async function killed(
  installation: Installation,
  nodes: readonly ServiceNode[],
  revive: () => void | Promise<void>,
): Promise<void> {
  for (const node of nodes) installation.away.add(node);
  await Promise.all(nodes.map((node) => node.kill()));
  await revive();
  await Promise.all(nodes.map((node) => node.ready()));
  for (const node of nodes) installation.away.delete(node);
}

/** A write becomes visible in a list. */
async function isProjected({ api, headers }: Installation): Promise<boolean> {
  const email = `${randomUUID()}@acme.example`;
  const url = `${api.url}/api/v1/admin/users`;
  const { status } = await ask(url, {
    method: 'POST',
    headers,
    body: { email, displayName: 'Somebody' },
    timeoutMs: 5_000,
  });
  const list = await ask(`${url}?search=${email}`, { headers });
  return status === 201 && list.body.total === 1;
}
