import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { restoreAcceptLog, restoreRebuildFromLog, restoreStatus } from '../../../src/app/cli/restore.ts';
import type { TestApp } from '../../dsl/app.ts';
import type { FreshDatabase } from '../../dsl/database.ts';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../../fixtures/eventstoredb/restorable-node.ts';
import { employ, eventsAfter, expectSound, inhabit, reportBreach, tryToEmploy, type Inhabited } from './inhabitants.ts';
import { newSite, type Site } from './installation.ts';

const LATER = ['lee@acme.example', 'max@acme.example'];
const REASON = 'the newest copy was lost in a fire';
const ASKED = { yes: true, reason: REASON } as const;
const silent = () => undefined;
/** What a restore may write: nothing that follows from existing events. */
const OF_A_RESTORE = [
  'InstallationIdentified',
  'LogAccepted',
  'TablesRebuilt',
  'AuditHeadSealed',
  'EmployeeDeleted',
  'EmployeeErasureRequested',
  'EmployeeErased',
  // Whoever is deleted is offboarded.
  'OffboardingStarted',
  'OffboardingStepCompleted',
  'OffboardingCompleted',
];

let site: Site;
let node: RestorableNode | undefined;
afterEach(async () => {
  await site.clear();
  await node?.close();
  node = undefined;
});

const headsOf = ({ config }: Site) => join(config.dataDir, 'audit-heads.jsonl');
const doubtOf = ({ services }: TestApp) =>
  services.trust.doubt?.kind === 'contradicted' ? services.trust.doubt.mismatch : undefined;
const entryOf = async ({ services }: TestApp, action: string) =>
  (
    await services.database.projector.query<{ details: string }>('select details from audit_log where action = $1', [
      action,
    ])
  ).rows.map(({ details }) => JSON.parse(details) as object);

describe(`an installation on EventStoreDB (${restorableNodes})`, () => {
  const begin = async (): Promise<{ app: TestApp; database: FreshDatabase; inhabited: Inhabited }> => {
    node = await startRestorableNode();
    site = newSite({ eventStoreUrl: node.connectionString });
    const database = await site.newDatabase();
    const app = await site.start(database);
    return { app, database, inhabited: await inhabit(app) };
  };
  const later = async (app: TestApp, inhabited: Inhabited): Promise<void> => {
    for (const email of LATER) await employ(app, { ...inhabited, employees: [] }, email);
    await reportBreach(app, inhabited, 'later.example');
    await app.settled();
  };

  it('continues from both halves of one backup', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { app, database, inhabited } = await begin();
    await app.close();
    const [log, tables, heads] = [await node!.snapshot(), await site.copyOf(database), readFileSync(headsOf(site))];
    const after = await site.start(database);
    await later(after, inhabited);
    await after.close();
    await node!.restore(log);
    writeFileSync(headsOf(site), heads);
    const restored = await site.start(tables);
    expect(doubtOf(restored)).toBeUndefined();
    await expectSound(restored, inhabited);
  });

  it(
    'continues from both halves of one backup under newer sealed heads, once an operator has accepted that',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { app, database, inhabited } = await begin();
      await app.close();
      const [log, tables] = [await node!.snapshot(), await site.copyOf(database)];
      const after = await site.start(database);
      await later(after, inhabited);
      await after.close();
      await node!.restore(log);
      const restored = await site.start(tables);
      expect(doubtOf(restored)).toBeUndefined();
      const lines: string[] = [];
      const { headsLost } = await restoreStatus(restored.services, (line) => lines.push(line));
      expect([...headsLost.keys()]).toContain(inhabited.tenant.tenantId);
      expect(lines.join('\n')).toMatch(/knows sealed heads of \d chains? ?.* that the log does not hold/);
      await restoreAcceptLog(restored.services, ASKED, silent);
      await expectSound(restored, inhabited);
      expect(await entryOf(restored, 'installation.log_accepted')).toEqual([
        expect.objectContaining({ reason: REASON, mismatch: 'heads_lost' }),
      ]);
      expect((await restoreStatus(restored.services, silent)).headsLost.size).toBe(0);
    },
  );

  it(
    'is adjusted to a log that is older than its tables, as after a backup of the log before the tables',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { app, database, inhabited } = await begin();
      // The log is copied while the service runs and writes; the tables later.
      const log = await node!.snapshot();
      await later(app, inhabited);
      await app.close();
      await node!.restore(log);

      const shown = await site.start(database);
      expect(doubtOf(shown)).toBe('log_older');
      const count = async () => (await eventsAfter(shown, 0n)).length;
      const events = await count();
      const lines: string[] = [];
      await restoreAcceptLog(shown.services, {}, (line) => lines.push(line));
      expect(lines.join('\n')).toMatch(/log_older[\s\S]*rebuilt from the log[\s\S]*Nothing was changed/);
      await expect(restoreAcceptLog(shown.services, { yes: true }, silent)).rejects.toThrow(/--reason/);
      await expect(restoreRebuildFromLog(shown.services, ASKED, silent)).rejects.toThrow(
        /rebuilding the tables does not fix this/,
      );
      expect([doubtOf(shown), await count()]).toEqual(['log_older', events]);

      const before = await shown.services.head();
      await restoreAcceptLog(shown.services, ASKED, silent);
      await shown.settled();
      expect(
        (await eventsAfter(shown, before)).map(({ type }) => type).filter((type) => !OF_A_RESTORE.includes(type)),
      ).toEqual([]);
      await shown.close();

      const restored = await site.start(database);
      expect(doubtOf(restored)).toBeUndefined();
      await expectSound(restored, inhabited);
      expect(await entryOf(restored, 'installation.log_accepted')).toEqual([
        expect.objectContaining({ reason: REASON, mismatch: 'log_older' }),
      ]);
      // What was lost can be done again: its e-mail is free.
      await employ(restored, inhabited, LATER[0]!);
    },
  );

  it(
    'sets sealed heads aside that an accepted log does not hold, and continues to seal',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { app, database, inhabited } = await begin();
      const log = await node!.snapshot();
      await later(app, inhabited);
      await app.close();
      await node!.restore(log);
      const shown = await site.start(database);
      await restoreAcceptLog(shown.services, ASKED, silent);
      await shown.close();
      const dropped = join(site.config.dataDir, 'audit-heads.jsonl.dropped');
      expect(existsSync(dropped) && readFileSync(dropped, 'utf8')).toContain(inhabited.tenant.tenantId);
      const restored = await site.start(database);
      await expectSound(restored, inhabited);
      await restored.close();
      const again = await site.start(database);
      expect((await again.anonymous.get('/health')).body.dependencies.audit_seals.status).toBe('healthy');
      expect(readFileSync(headsOf(site), 'utf8')).toContain(inhabited.tenant.tenantId);
      await expectSound(again, inhabited);
    },
  );

  it('keeps persons erased whose erasure an older log has lost', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { app, database, inhabited } = await begin();
    await employ(app, inhabited, 'gone@acme.example');
    await app.settled();
    const log = await node!.snapshot();
    const { erasePersonAsOperator } = await import('../../../src/app/cli/employees.ts');
    const { userId } = await erasePersonAsOperator(app.services, {
      tenant: inhabited.tenant.tenantId,
      person: 'gone@acme.example',
    });
    await app.settled();
    await app.close();
    await node!.restore(log);
    const shown = await site.start(database);
    await restoreAcceptLog(shown.services, ASKED, silent);
    await shown.settled();
    expect(await eventsAfter(shown, 0n)).toContainEqual(
      expect.objectContaining({ type: 'EmployeeErased', data: { userId } }),
    );
    await shown.close();
    const restored = await site.start(database);
    await expectSound(restored, inhabited, ['kim@acme.example']);
    await employ(restored, inhabited, 'gone@acme.example');
  });

  it(
    'is adjusted to the log when its tables are older, and releases the e-mails of persons whose keys are lost',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { app, database, inhabited } = await begin();
      await app.close();
      const older = await site.copyOf(database);
      const newer = await site.start(database);
      await later(newer, inhabited);
      await newer.close();

      const shown = await site.start(older);
      expect(doubtOf(shown)).toBe('keys_missing');
      const lines: string[] = [];
      await restoreRebuildFromLog(shown.services, {}, (line) => lines.push(line));
      expect(lines.join('\n')).toMatch(/keys of 2 persons[\s\S]*Nothing was changed/);
      expect(doubtOf(shown)).toBe('keys_missing');
      await expect(restoreAcceptLog(shown.services, ASKED, silent)).rejects.toThrow(
        /accepting the log does not fix this/,
      );

      const before = await shown.services.head();
      await restoreRebuildFromLog(shown.services, ASKED, silent);
      await shown.settled();
      expect(
        (await eventsAfter(shown, before)).map(({ type }) => type).filter((type) => !OF_A_RESTORE.includes(type)),
      ).toEqual([]);
      await shown.close();

      const restored = await site.start(older);
      expect(doubtOf(restored)).toBeUndefined();
      await expectSound(restored, inhabited);
      expect(await entryOf(restored, 'installation.tables_rebuilt')).toEqual([
        expect.objectContaining({ reason: REASON, personsLost: 2 }),
      ]);
      for (const email of LATER) expect((await tryToEmploy(restored, inhabited, email)).status).toBe(201);
    },
  );

  it(
    'needs an older dump when its tables are lost, and is adjusted to the log with one',
    { timeout: RESTORE_TIMEOUT_MS },
    async () => {
      const { app, database, inhabited } = await begin();
      await app.close();
      const dump = await site.copyOf(database);
      const newer = await site.start(database);
      await later(newer, inhabited);
      await newer.close();
      const lost = await site.start(await site.newDatabase());
      expect(doubtOf(lost)).toBe('empty_tables');
      for (const attempt of [restoreAcceptLog, restoreRebuildFromLog])
        await expect(attempt(lost.services, ASKED, silent)).rejects.toThrow(/tables are empty/);
      await lost.close();
      const restored = await site.start(dump);
      await restoreRebuildFromLog(restored.services, ASKED, silent);
      await expectSound(restored, inhabited);
    },
  );

  it('starts over on an empty log that was accepted (OP-471)', { timeout: RESTORE_TIMEOUT_MS }, async () => {
    const { app, database, inhabited } = await begin();
    await app.close();
    await node!.restore();
    const shown = await site.start(database);
    expect(doubtOf(shown)).toBe('empty_log');
    const installation = await shown.services.installation.inTables();
    await restoreAcceptLog(shown.services, ASKED, silent);
    await shown.close();
    const restored = await site.start(database);
    expect(doubtOf(restored)).toBeUndefined();
    expect(await restored.services.installation.inLog()).toMatchObject({
      installationId: installation!.installationId,
    });
    expect((await restored.as(inhabited.tenant.token).get('/api/v1/admin/users')).status).toBe(401);
    const again = await inhabit(restored);
    await expectSound(restored, again);
  });
});

describe('an installation on PostgreSQL alone', () => {
  it('continues from a copy, whose log and tables are from one moment', { timeout: 60_000 }, async () => {
    site = newSite();
    const database = await site.newDatabase();
    const app = await site.start(database);
    const inhabited = await inhabit(app);
    await app.close();
    const copy = await site.copyOf(database);
    const restored = await site.start(copy);
    expect(doubtOf(restored)).toBeUndefined();
    await expectSound(restored, inhabited);
  });

  it('is adjusted to a log that lost its newest events', { timeout: 120_000 }, async () => {
    site = newSite();
    const database = await site.newDatabase();
    const app = await site.start(database);
    const inhabited = await inhabit(app);
    const end = await app.services.head();
    for (const email of LATER) await employ(app, { ...inhabited, employees: [] }, email);
    await app.settled();
    await app.close();
    await site.query(database, `delete from events where position > ${end}`);
    const shown = await site.start(database);
    expect(doubtOf(shown)).toBe('log_older');
    await restoreAcceptLog(shown.services, ASKED, silent);
    await shown.close();
    const restored = await site.start(database);
    await expectSound(restored, inhabited);
    for (const email of LATER) expect((await tryToEmploy(restored, inhabited, email)).status).toBe(201);
  });

  it('has nothing to accept or rebuild while log and tables match', async () => {
    site = newSite();
    const app = await site.start(await site.newDatabase());
    await expect(restoreAcceptLog(app.services, ASKED, silent)).rejects.toThrow(/nothing to accept/);
    await expect(restoreRebuildFromLog(app.services, ASKED, silent)).rejects.toThrow(/nothing to rebuild/);
  });
});
