import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffModels, differencesIn } from '../../../src/app/cli/projections.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { ANY } from '../../fixtures/eventstoredb/event-log.ts';
import { startStandIn, type StandIn } from '../../fixtures/eventstoredb/stand-in.ts';

const FOREIGN = 20_000;

describe('the service beside another application on one EventStoreDB', { timeout: 90_000 }, () => {
  let node: StandIn;
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    node = await startStandIn();
    app = await startApp({ eventStoreUrl: node.connectionString });
    tenant = await app.newTenant();
    await app.settled();
  }, 90_000);
  afterAll(async () => {
    await app.close();
    await node.stop();
  });

  const flood = (): void => {
    const event = () => ({
      id: randomUUID(),
      type: 'OrderPlaced',
      json: true,
      data: Buffer.from('{"order":1}'),
      metadata: Buffer.from('{}'),
    });
    for (let at = 0; at < FOREIGN; at += 100)
      node.log.append(`order-${randomUUID()}`, ANY, Array.from({ length: 100 }, event));
  };
  const said = async (models: TestApp['services']['models']): Promise<{ found: number; lines: string[] }> => {
    const lines: string[] = [];
    return { found: differencesIn(await diffModels(app.services, models, (line) => lines.push(line))), lines };
  };

  it('follows its own writes without reading foreign events in between', async () => {
    await app.settled();
    let sent = 0;
    node.onSend = (message) => void (sent += message.hasEvent() ? 1 : 0);
    for (const name of ['One', 'Two', 'Three']) {
      flood();
      expect((await tenant.admin.post('/api/v1/admin/groups', { name })).status).toBe(201);
      await app.settled();
    }
    delete node.onSend;
    expect(((await tenant.admin.get('/api/v1/admin/groups')).body as { groups: unknown[] }).groups).toHaveLength(3);
    // `settled` itself polls the newest event: far less than the flood all the same.
    expect(sent).toBeLessThan(FOREIGN / 10);
  });

  it('compares tables with the log without reading foreign events', async () => {
    await app.settled();
    let sent = 0;
    node.onSend = (message) => void (sent += message.hasEvent() ? 1 : 0);
    const models = app.services.models.filter(({ name }) => ['groups', 'audit_log'].includes(name));
    expect(await said(models)).toMatchObject({ found: 0 });
    delete node.onSend;
    const own = node.log.all.filter(({ stream }) => !/^(order-|claim-|\$)/.test(stream)).length;
    // Once for each model; and occasionally the newest event of the log, by subscriptions.
    expect(sent).toBeLessThan(models.length * own + 200);
    expect(node.log.all.length).toBeGreaterThan(3 * FOREIGN);
  });

  it('explains rows without an event in the log', async () => {
    const { owner } = app.services.database;
    const {
      rows: [table],
    } = await owner.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relname ~ '^groups_v'`,
    );
    await owner.query(
      `insert into "${table!.name}" select (jsonb_populate_record(g, jsonb_build_object('group_id', $1::text))).* from "${table!.name}" g limit 1`,
      [randomUUID()],
    );
    const { found, lines } = await said(app.services.models.filter(({ name }) => name === 'groups'));
    expect(found).toBe(1);
    expect(lines.join('\n')).toContain('the log has no event for them');
    expect(lines.join('\n')).toContain('scavenge');
  });
});
