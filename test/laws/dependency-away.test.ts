import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { compose } from '../../src/app/compose/compose.ts';
import { errorCodes, type ErrorCode } from '../../src/platform/kernel/error-codes.ts';
import { newLogger } from '../../src/platform/observability/logger.ts';
import { appOf, testConfig, type TestApp, type TestTenant } from '../dsl/app.ts';
import { cheapPasswords } from '../dsl/cheap-passwords.ts';
import { freshDatabase, type FreshDatabase } from '../dsl/database.ts';
import { modelsTemplate } from '../dsl/models-template.ts';
import { scratchFolder } from '../dsl/scratch.ts';
import { stallingProxy, type StallingProxy } from '../dsl/stalling-proxy.ts';
import { everyRoute, named, pathWith } from './every-route.ts';

const ID = '0198a000-0000-7000-8000-000000000000';
const AT_ONCE = 32;
/** Their body is the state of the service, not an error. */
const PROBES = ['GET /health', 'GET /ready'];
const isLasting = (code: ErrorCode): boolean => 'isLasting' in errorCodes[code];

describe('while PostgreSQL is away', () => {
  let database: FreshDatabase;
  let proxy: StallingProxy;
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    database = await freshDatabase({ template: await modelsTemplate() });
    proxy = await stallingProxy({ path: `${database.config.host}/.s.PGSQL.${database.config.port}` });
    const dataDir = scratchFolder('away');
    const config = testConfig(dataDir, { recoveryKey: 'a-recovery-key-for-tests', drainMs: 1_000 });
    const application = await compose(config, {
      database: { ...database.config, host: '127.0.0.1', port: proxy.port },
      log: newLogger(config.logLevel),
      passwords: cheapPasswords(),
    });
    app = appOf(application, async () => {
      await application.stop().catch(() => undefined);
      rmSync(dataDir, { recursive: true, force: true });
    });
    tenant = await app.newTenant();
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** One request per route, with the least that passes its schema, or else with an empty object. */
  const requests = () =>
    everyRoute.map((route) => async () => {
      const body = route.method === 'GET' || !route.body ? undefined : {};
      const { status, headers, body: answer } = await tenant.admin.send(route.method, pathWith(route, ID), { body });
      return { route: named(route), status, retryAfter: headers.get('retry-after'), code: answer?.code as ErrorCode };
    });

  it('every route responds, with 503 and Retry-After where it needs the database', async () => {
    await proxy.close();
    const waiting = requests();
    const outcomes: Awaited<ReturnType<(typeof waiting)[number]>>[] = [];
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) outcomes.push(await next());
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const wrong = outcomes.filter(
      ({ route, status, retryAfter, code }) =>
        !PROBES.includes(route) &&
        (status === 500 || status === 429 || (status === 503 && retryAfter === null && !isLasting(code))),
    );
    expect(wrong).toEqual([]);
    expect(outcomes).toHaveLength(everyRoute.length);
    expect(outcomes.filter(({ status }) => status === 503).length).toBeGreaterThan(everyRoute.length / 2);
  });
});
