import { InvalidArgumentError, type Command } from 'commander';
import { listTenants } from '../../queries/tenants/list-tenants.ts';
import { exportAuditLog } from '../../queries/audit/export-audit-log.ts';
import { verifyTenant } from '../audit/verify.ts';
import { orThrow } from '../kernel/failure.ts';
import { asTenantId, INSTALLATION } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { findTenant } from '../tenants/find-tenant.ts';
import type { WithHouse } from './house.ts';

const MOST_TENANTS = 100_000;

/** Prints a verdict a tenant; answers how many chains do not hold. */
export async function auditVerify(services: Services, tenant: string | undefined): Promise<number> {
  const chosen = tenant
    ? [{ id: await findTenant(services, tenant), slug: tenant }]
    : orThrow(await listTenants(services.reads(INSTALLATION), { most: MOST_TENANTS }));
  let broken = 0;
  for (const { id, slug } of chosen) {
    const { valid, entriesChecked, firstInvalidSequence, reason } = await verifyTenant(services, asTenantId(id));
    if (!valid) broken += 1;
    console.log(`${valid ? 'valid  ' : 'BROKEN '} ${slug} ${id}: ${entriesChecked} entries${valid ? '' : `, ${reason} at ${firstInvalidSequence}`}`);
  }
  return broken;
}

export function addAuditCommands(program: Command, withHouse: WithHouse): void {
  const audit = program.command('audit').description('the record of decisions');
  audit
    .command('verify')
    .description('replay the event log and hold every audit chain against it; exit code 1 if one does not hold')
    .option('--tenant <id|slug>', 'only this one')
    .action(async ({ tenant }: { tenant?: string }) => {
      if ((await withHouse(({ services }) => auditVerify(services, tenant))) > 0) process.exitCode = 1;
    });
  audit
    .command('export')
    .description("print a tenant's audit log, a JSON record a line, oldest first")
    .requiredOption('--tenant <id|slug>')
    .option('--limit <n>', 'stop after so many', (text) => {
      if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
      return Number(text);
    })
    .action(({ tenant, limit = Infinity }: { tenant: string; limit?: number }) =>
      withHouse(async ({ services }) => {
        let printed = 0;
        for await (const record of exportAuditLog(services.reads(await findTenant(services, tenant)), {}, (events) => services.codec.reveal(events))) {
          if (++printed > limit) return;
          console.log(JSON.stringify(record));
        }
      }),
    );
}
