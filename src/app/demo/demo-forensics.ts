import { randomUUID } from 'node:crypto';
import { alerts as alertsModel } from '../../../projections/alerts/alerts.ts';
import { verifyTenant, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import { diffModels, differencesIn, rebuildModels, type ProjectionsCliDependencies } from '../cli/projections.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { diffModel } from '../../platform/projector/diff.ts';
import { assertDemo, perSecond, type DemoOutput } from './demo-output.ts';
import type { DemoAlert } from './demo-triage.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Database } from '../../platform/database/database.ts';

export interface ForensicsDependencies extends ProjectionsCliDependencies, VerifyDependencies {
  readonly database: Database;
}

/** The fifth chapter: the audit chain is valid, and a changed entry is named. */
export async function auditChapter(
  services: ForensicsDependencies,
  output: DemoOutput,
  tenantId: TenantId,
): Promise<void> {
  output.chapter('A tamper-evident audit log');
  const audit = () => verifyTenant(services, tenantId);
  const first = await output.step(
    'verify the audit chain',
    audit,
    ({ entriesChecked }, s) => `valid, ${entriesChecked} entries, ${perSecond(entriesChecked, s)}`,
  );
  assertDemo(first.valid, 'the untouched chain is valid');
  await tamperWithAudit(services, tenantId, async (sequence) => {
    const verdict = await output.step(
      'change one entry in the database',
      audit,
      ({ reason, firstInvalidSequence }) => `found: ${reason} at ${firstInvalidSequence}`,
    );
    assertDemo(!verdict.valid && verdict.firstInvalidSequence === sequence, `entry ${sequence} is named`);
  });
}

/** The last chapter: a changed row is named, and a rebuild beside the live table makes it match the log again. */
export async function rebuildChapter(
  services: ForensicsDependencies,
  output: DemoOutput,
  { tenantId, alert, terminal }: { tenantId: TenantId; alert: DemoAlert; terminal: Terminal },
  caughtUp: () => Promise<void>,
): Promise<void> {
  output.chapter('Read models that match the event log');
  const parts = { store: services.store, codec: services.codec, pool: services.database.projector };
  await services.database.owner.query(
    `update alerts set severity = 'low', title = 'nothing to see' where tenant_id = $1 and alert_id = $2`,
    [tenantId, alert.id],
  );
  const found = await output.step(
    'change one row, then diff',
    () => diffModel(parts, alertsModel),
    ({ differences, rows }) =>
      `${rows} rows compared; ${differences.map(({ key, columns }) => `${String(key['alert_id'])} differs in ${columns.join(', ')}`).join('; ')}`,
  );
  assertDemo(
    found.differences.some(({ key }) => key['alert_id'] === alert.id),
    'the changed row is named',
  );
  output.say('    rebuild beside the live table:');
  await rebuildModels(services, { models: [alertsModel] }, { terminal, say: output.say });
  await caughtUp();
  const left = await diffModels(services, [alertsModel], output.say);
  assertDemo(differencesIn(left) === 0, 'the rebuilt table matches the log');
}

/** Changes one stored entry, as an attacker with the rights of the database owner could, and restores it afterwards. */
async function tamperWithAudit(
  { database }: ForensicsDependencies,
  tenantId: string,
  look: (sequence: number) => Promise<void>,
): Promise<void> {
  const { rows } = await database.owner.query<{ sequence: number; position: string; resource_id: string | null }>(
    `select sequence, position::text, resource_id from audit_log where tenant_id = $1 and position > 0 and resource_id is not null order by sequence offset 10 limit 1`,
    [tenantId],
  );
  const [{ sequence, position, resource_id: before }] = rows as [(typeof rows)[number]];
  const change = (to: string | null) =>
    database.owner.query('update audit_log set resource_id = $3 where tenant_id = $1 and position = $2', [
      tenantId,
      position,
      to,
    ]);
  await change(randomUUID());
  try {
    await look(Number(sequence));
  } finally {
    await change(before);
  }
}
