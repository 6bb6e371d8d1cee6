import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import type { Installation } from '../harness/installation.ts';
import { timeoutMs, rounds } from '../harness/rounds.ts';
import { underWrites } from '../harness/under-writes.ts';
import { until } from '../harness/until.ts';

const CRASHES = rounds(2);
/** How long a frozen server does not respond: longer than a probe may take. */
const FROZEN_MS = 6_000;
const RECOVERY_MS = 20_000;

/** PostgreSQL fails while the service keeps running. */
export function postgresFaults(installation: () => Installation): void {
  it('loses nothing when a restart ends all connections', { timeout: timeoutMs() }, async () => {
    await underWrites(installation(), () => installation().cluster.restart('fast'));
  });

  it(
    'loses nothing when PostgreSQL is stopped immediately and recovers at its start',
    { timeout: timeoutMs() },
    async () => {
      await underWrites(installation(), () => installation().cluster.restart('immediate'));
    },
  );

  it(
    `loses nothing when one of PostgreSQL's processes is killed and it recovers by itself, ${CRASHES} times`,
    { timeout: timeoutMs(CRASHES) },
    async () => {
      const { cluster } = installation();
      const crash = async (round: number) => {
        await killOneBackend(installation(), round);
        await until('PostgreSQL has recovered', RECOVERY_MS, () => cluster.isReady());
      };
      await underWrites(installation(), crash, { rounds: CRASHES });
    },
  );

  it(
    'loses nothing, responds to probes and recovers when PostgreSQL is frozen and resumed',
    { timeout: timeoutMs() },
    async () => {
      const { cluster } = installation();
      await underWrites(installation(), async () => {
        cluster.freeze();
        await sleep(FROZEN_MS);
        cluster.thaw();
      });
    },
  );
}

/** Each round another one of the service's connections loses its process. */
export async function killOneBackend({ cluster }: Installation, round: number): Promise<void> {
  const backends = await cluster.backends();
  cluster.killBackend(backends[(round * 7) % backends.length]!.pid);
  // Until the server has noticed: before that it still accepts connections.
  await sleep(300);
}
