import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import type { Installation } from '../harness/installation.ts';
import { timeoutMs, rounds } from '../harness/rounds.ts';
import { underWrites } from '../harness/under-writes.ts';

const RESETS = rounds(2);
const STALLED_MS = 6_000;
const SLOW_MS = 4_000;
const LATENCY_MS = 150;

/** Faults of the network between the service and PostgreSQL. */
export function linkFaults(installation: () => Installation): void {
  it('loses nothing when all traffic is delayed for a while', { timeout: timeoutMs() }, async () => {
    const { proxy } = installation();
    await underWrites(installation(), async () => {
      proxy.stall();
      await sleep(STALLED_MS);
      proxy.flow();
    });
  });

  it('loses nothing when the network drops every connection silently', { timeout: timeoutMs() }, async () => {
    await underWrites(installation(), async () => installation().proxy.forsake());
  });

  it(`loses nothing when every connection is reset, ${RESETS} times`, { timeout: timeoutMs(RESETS) }, async () => {
    await underWrites(installation(), async () => installation().proxy.reset(), { rounds: RESETS });
  });

  it('loses nothing when every connection is half closed', { timeout: timeoutMs() }, async () => {
    await underWrites(installation(), async () => installation().proxy.halfClose());
  });

  it('loses nothing when all traffic is slow', { timeout: timeoutMs() }, async () => {
    const { proxy } = installation();
    await underWrites(installation(), async () => {
      proxy.delay(LATENCY_MS);
      await sleep(SLOW_MS);
      proxy.delay(0);
    });
  });
}
