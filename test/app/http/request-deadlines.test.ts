import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { enrollmentTokenOf, tryToEnroll } from '../../dsl/enrolled-device.ts';
import { startStandIn, type StandIn } from '../../fixtures/eventstoredb/stand-in.ts';

/** Ten seconds, and a margin for a busy machine. Without a shared deadline enrollment took 15 to 19 seconds. */
const MAX_MS = 14_000;

describe('while the event store is unavailable', () => {
  let node: StandIn;
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    node = await startStandIn();
    app = await startApp({ eventStoreUrl: node.connectionString });
    acme = await app.newTenant();
  });
  afterAll(async () => {
    delete node.faults;
    await app.close();
    await node.stop();
  });

  async function enrollWhile(faults: StandIn['faults']) {
    const enrollmentToken = await enrollmentTokenOf(acme);
    node.faults = faults!;
    const started = performance.now();
    const { status } = await tryToEnroll(app, acme.tenantId, enrollmentToken);
    const tookMs = performance.now() - started;
    delete node.faults;
    return { status, tookMs };
  }

  it('an enrollment is refused within the deadline of the request if the store does not respond', async () => {
    const { status, tookMs } = await enrollWhile(() => 'silence');
    expect(status).toBe(503);
    expect(tookMs).toBeLessThan(MAX_MS);
  });

  it('an enrollment is refused within the deadline of the request if the store stops responding in the middle of it', async () => {
    let appends = 0;
    let isSilent = false;
    const { status, tookMs } = await enrollWhile((method) => {
      if (method === 'append' || method === 'batchAppend') appends += 1;
      isSilent ||= appends > 4;
      return isSilent ? 'silence' : undefined;
    });
    expect(status).toBe(503);
    expect(tookMs).toBeLessThan(MAX_MS);
  });
});
