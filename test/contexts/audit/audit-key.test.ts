import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WrongAuditKey } from '../../../src/contexts/audit/audit-key.ts';
import { ChainKey } from '../../../src/contexts/audit/domain/chain-key.ts';
import { entryHash } from '../../../src/contexts/audit/domain/entry.ts';
import { entryAtPosition } from '../../../src/contexts/audit/diagnosis.ts';
import { compose } from '../../../src/app/compose/compose.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import type { AuditLogRow } from '../../../projections/audit/audit-log.ts';
import { startApp, testConfig, type TestApp } from '../../dsl/app.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { startPasswordServer } from '../../dsl/password-server.ts';
import { aDay, ACME, openAuditedVault } from './audited-vault.ts';

describe('a start with another AUDIT_HMAC_KEY', () => {
  const dataDir = scratchFolder('audit-key');
  const [right, wrong] = [randomBytes(32), randomBytes(32)];
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp({ auditKey: right });
    for (let n = 0; n < 3; n += 1) await app.newTenant();
    await app.settled();
  });
  afterEach(() => app.close());
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  const start = async (auditKey: Buffer, masterKey = app.config.masterKey) => {
    const config = testConfig(dataDir, { masterKey, auditKey });
    const application = await compose(config, {
      database: app.services.database.config,
      project: false,
      listen: false,
      log: newLogger('silent'),
      passwords: cheapPasswords(),
    });
    await application.stop();
  };
  const sql = (text: string) =>
    app.services.database.owner.query<Record<string, unknown>>(text).then(({ rows }) => rows);
  const everything = () =>
    sql(
      `select (select json_agg(k) from audit_key k) as audit, (select json_agg(m order by fingerprint) from master_keys m) as masters, (select max(position) from events) as head`,
    );
  /** As a previous version left it, which recorded no fingerprint. */
  const forget = () => sql('delete from audit_key');

  it('is refused with one sentence that names the setting, and writes nothing', async () => {
    const before = await everything();
    const error = await start(wrong, randomBytes(32)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WrongAuditKey);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(
      /^AUDIT_HMAC_KEY is not the key of this database's audit log \(expected fingerprint [0-9a-f]{16}, got [0-9a-f]{16}\)/,
    );
    expect((error as Error).message).not.toContain(wrong.toString('hex'));
    expect(await everything()).toEqual(before);
    await start(right);
  });

  it('is refused without a recorded fingerprint too: the chains themselves are checked', async () => {
    await forget();
    await expect(start(wrong)).rejects.toThrow(WrongAuditKey);
    expect(await sql('select fingerprint from audit_key')).toEqual([]);
    await start(right);
    expect(await sql('select fingerprint from audit_key')).toHaveLength(1);
    await expect(start(wrong)).rejects.toThrow(/fingerprint/);
  });

  it('accepts the right key though the entry that would have proved it was changed', async () => {
    await forget();
    await sql(
      `update audit_log set action = 'x' where position in (select position from audit_log where position > 0 order by position limit 1)`,
    );
    await start(right);
  });

  it('is checked against the seals in the log if there is no audit table', async () => {
    await forget();
    await app.application.stop();
    const { owner } = (await import('../../../src/platform/database/database.ts')).openDatabase(
      app.services.database.config,
      newLogger('silent'),
    );
    await owner.query('drop view audit_log');
    const { rows } = await owner.query(`select count(*)::int as n from events where type = 'AuditHeadSealed'`);
    expect((rows[0] as { n: number }).n).toBeGreaterThan(0);
    await owner.end();
    await expect(start(wrong)).rejects.toThrow(WrongAuditKey);
  });
});

describe('a chain that was continued under another key', () => {
  it('is reported as such, at the first entry with the other key', async () => {
    const application = await openAuditedVault();
    await aDay(application, 9);
    await application.project();
    const other = new ChainKey(randomBytes(32));
    let previous: string | undefined;
    for (let n = 5; n <= 9; n += 1) {
      const [row] = (await application.sql(
        'select * from audit_log where tenant_id = $1 and sequence = $2 and position > 0',
        [ACME, n],
      )) as unknown as (AuditLogRow & { recorded_at: Date | string })[];
      const entry = {
        ...entryAtPosition({ ...row!, recorded_at: new Date(row!.recorded_at).toISOString() }),
        sequence: n,
        previousHash: previous ?? row!.previous_hash!,
      };
      const hash = entryHash(other, entry);
      await application.sql(
        'update audit_log set previous_hash = $3, hash = $4 where tenant_id = $1 and sequence = $2 and position > 0',
        [ACME, n, entry.previousHash, hash],
      );
      previous = hash;
    }
    await application.sql('update audit_log set hash = $2 where tenant_id = $1 and position = 0', [ACME, previous!]);
    expect(await application.verify()).toMatchObject({ valid: false, firstInvalidSequence: 5, reason: 'other_key' });
    await application.close();
  });
});

describe('the command line', () => {
  it('refuses another AUDIT_HMAC_KEY in one sentence, without a stack', async () => {
    const server = await startPasswordServer();
    const dataDir = scratchFolder('audit-key-cli');
    await server.admin('postgres', 'create database audited');
    const run = (auditKey: string) =>
      spawnSync(process.execPath, ['scripts/run.mjs', 'src/cli.ts', 'audit', 'verify'], {
        encoding: 'utf8',
        env: {
          ...process.env,
          NODE_ENV: 'production',
          DATA_DIR: dataDir,
          DATABASE_URL: server.url('postgres', 'audited'),
          MASTER_KEY: '11'.repeat(32),
          AUDIT_HMAC_KEY: auditKey,
          LICENSE_PUBLIC_KEY: licensePublicKeyPem,
        },
      });
    expect(run('22'.repeat(32))).toMatchObject({ status: 0, stdout: expect.stringMatching(/^valid/) });
    const refused = run('33'.repeat(32));
    expect([refused.status, refused.stderr.trim().split('\n')]).toEqual([
      2,
      [expect.stringMatching(/^castellan: AUDIT_HMAC_KEY is not the key/)],
    ]);
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);
});
