import { afterEach, describe, expect, it } from 'vitest';
import { erasePersonAsOperator } from '../../../src/app/cli/employees.ts';
import { restoreAcceptLog, restoreRebuildFromLog, restoreStatus } from '../../../src/app/cli/restore.ts';
import { installationStream } from '../../../src/contexts/installation/domain/identity.ts';
import { compose } from '../../../src/app/compose/compose.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import type { TestApp } from '../../dsl/app.ts';
import type { FreshDatabase } from '../../dsl/database.ts';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../../fixtures/eventstoredb/restorable-node.ts';
import { employ, expectSound, inhabit, tryToEmploy, type Inhabited } from './inhabitants.ts';
import { newSite, type Site } from './installation.ts';

const ASKED = { yes: true, reason: 'the newest copy was lost in a fire' } as const;
const silent = () => undefined;

let site: Site;
let node: RestorableNode;
afterEach(async () => {
  await site.clear();
  await node.close();
});

const begin = async () => {
  node = await startRestorableNode();
  site = newSite({ eventStoreUrl: node.connectionString });
  const database = await site.newDatabase();
  const app = await site.start(database);
  return { app, database, inhabited: await inhabit(app) };
};
const doubtOf = ({ services }: TestApp) =>
  services.trust.doubt?.kind === 'contradicted' ? services.trust.doubt : undefined;
const records = async ({ services }: TestApp, action: string) =>
  (await services.database.projector.query('select 1 from audit_log where action = $1', [action])).rowCount;

/** Fails where a process is killed: everything before it has been done. */
const killedAt = (words: string) => (line: string) => {
  if (line.includes(words)) throw new Error('killed');
};

/** A log that has lost the erasure of somebody, under the tables that know of it. */
async function afterLostErasure(): Promise<{ database: FreshDatabase; inhabited: Inhabited }> {
  const { app, database, inhabited } = await begin();
  await employ(app, inhabited, 'gone@acme.example');
  await app.settled();
  const log = await node.snapshot();
  await erasePersonAsOperator(app.services, { tenant: inhabited.tenant.tenantId, person: 'gone@acme.example' });
  await app.settled();
  await app.close();
  await node.restore(log);
  return { database, inhabited };
}

/** Tables from before somebody was created. */
async function afterLostTables(): Promise<{ older: FreshDatabase; inhabited: Inhabited }> {
  const { app, database, inhabited } = await begin();
  await app.close();
  const older = await site.copyOf(database);
  const newer = await site.start(database);
  await employ(newer, { ...inhabited, employees: [] }, 'lee@acme.example');
  await newer.settled();
  await newer.close();
  return { older, inhabited };
}

describe(`OP-601 a restore that is interrupted (${restorableNodes})`, () => {
  it(
    'keeps the service stopped, and accepts the log when it is repeated',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { database, inhabited } = await afterLostErasure();
      const shown = await site.start(database);
      await expect(restoreAcceptLog(shown.services, ASKED, killedAt('brought reactions'))).rejects.toThrow('killed');
      await shown.close();

      const between = await site.start(database);
      expect(doubtOf(between)).toMatchObject({
        mismatch: 'log_older',
        reason: expect.stringContaining('castellan restore accept-log` was interrupted'),
      });
      expect((await restoreStatus(between.services, silent)).unfinished?.command).toBe('accept-log');
      await expect(restoreRebuildFromLog(between.services, ASKED, silent)).rejects.toThrow(/does not fix this/);
      await restoreAcceptLog(between.services, { yes: true, reason: 'again' }, silent);
      await between.settled();
      await between.close();

      const restored = await site.start(database);
      expect([doubtOf(restored), await records(restored, 'installation.log_accepted')]).toEqual([undefined, 1]);
      await expectSound(restored, inhabited, ['kim@acme.example']);
      await employ(restored, inhabited, 'gone@acme.example');
    },
  );

  it(
    'goes on without touching the tables again once they follow the log, and records itself once',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { database, inhabited } = await afterLostErasure();
      const shown = await site.start(database);
      await restoreAcceptLog(shown.services, ASKED, silent);
      await shown.settled();
      // As if it had been killed after its record, before it forgot that it had begun.
      const events = await shown.services.store.readStream(installationStream());
      const accepted = events.find(({ type }) => type === 'LogAccepted')!;
      await shown.services.unfinishedRestore.begin({
        command: 'accept-log',
        mismatch: 'log_older',
        reason: 'once',
        logEnd: 0n,
        tablesReached: 0n,
        headsDropped: new Map(),
        personsLost: 0,
      });
      await shown.services.database.projector.query('update unfinished_restore set id = $1, tables_brought = true', [
        accepted.metadata.commandId,
      ]);
      await shown.close();
      const again = await site.start(database);
      const lines: string[] = [];
      await restoreAcceptLog(again.services, ASKED, (line) => lines.push(line));
      expect(lines.filter((line) => /^rebuilt [a-z_]+$/.test(line))).toEqual([]);
      await again.settled();
      await again.close();
      const restored = await site.start(database);
      expect([doubtOf(restored), await records(restored, 'installation.log_accepted')]).toEqual([undefined, 1]);
      await expectSound(restored, inhabited, ['kim@acme.example']);
    },
  );

  it('releases lost persons when a rebuild is repeated', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { older, inhabited } = await afterLostTables();
    const shown = await site.start(older);
    expect(doubtOf(shown)?.mismatch).toBe('keys_missing');
    await expect(restoreRebuildFromLog(shown.services, ASKED, killedAt('brought reactions'))).rejects.toThrow('killed');
    await shown.close();
    const between = await site.start(older);
    expect(doubtOf(between)?.mismatch).toBe('keys_missing');
    const { personsLost } = (await restoreRebuildFromLog(between.services, ASKED, silent))!;
    await between.settled();
    await between.close();
    const restored = await site.start(older);
    expect([personsLost, doubtOf(restored), await records(restored, 'installation.tables_rebuilt')]).toEqual([
      1,
      undefined,
      1,
    ]);
    await expectSound(restored, inhabited);
    expect((await tryToEmploy(restored, inhabited, 'lee@acme.example')).status).toBe(201);
  });

  it('is refused beside a process that runs, and changes nothing', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { database, inhabited } = await afterLostErasure();
    const [running, command] = [await site.start(database), await site.start(database)];
    const lines: string[] = [];
    await expect(restoreAcceptLog(command.services, ASKED, (line) => lines.push(line))).rejects.toThrow(
      /a process of the service is running.*stop every process.*nothing was changed/,
    );
    expect(lines.filter((line) => /^rebuilt [a-z_]+$/.test(line))).toEqual([]);
    expect(doubtOf(command)?.reason).not.toContain('interrupted');
    await running.close();
    await restoreAcceptLog(command.services, ASKED, silent);
    await command.settled();
    await command.close();
    await expectSound(await site.start(database), inhabited, ['kim@acme.example']);
  });
});

describe(`older tables under a newer log (${restorableNodes})`, () => {
  it('are seen by a command that only looks while nothing runs', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { older } = await afterLostTables();
    const looking = await compose(site.config, {
      database: older.config,
      log: newLogger('silent'),
      passwords: cheapPasswords(),
      listen: false,
      onlyLooks: true,
    });
    const { mismatch } = await restoreStatus(looking.services, silent);
    const lines: string[] = [];
    await restoreRebuildFromLog(looking.services, {}, (line) => lines.push(line));
    await looking.stop();
    expect([mismatch?.kind, lines.join('\n')]).toEqual([
      'keys_missing',
      expect.stringMatching(/keys of 1 persons[\s\S]*Nothing was changed/),
    ]);
  });

  it('stop a process that does not project, without another one', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { older, inhabited } = await afterLostTables();
    const api = await site.start(older, { role: 'api' });
    expect(doubtOf(api)?.mismatch).toBe('keys_missing');
    expect((await tryToEmploy(api, inhabited, 'max@acme.example')).status).toBe(503);
  });
});
