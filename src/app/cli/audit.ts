import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { exportAuditLog } from '../../../queries/audit/export-audit-log.ts';
import {
  chainOwners,
  findChainOwner,
  type ChainOwner,
  type NamedOwner,
  type ChainOwnersDependencies,
} from '../../contexts/audit/chain-owners.ts';
import { SealFile } from '../../contexts/audit/seal-file.ts';
import { evidenceOf, verifyChain, verifyTenant, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import type { WithApplication } from './application.ts';

export interface AuditCliDependencies extends ChainOwnersDependencies, VerifyDependencies {}

/** Opens a copy of the file of sealed heads, or of a service log that contains them. */
function witnessAt(path: string): SealFile {
  if (!existsSync(path)) throw new FailureError(invalid('--heads', `there is no file ${path}`));
  return new SealFile(dirname(path), basename(path));
}

/** Prints one verdict per chain, for all owners if none is named. Returns the number of invalid chains. */
export async function auditVerify(
  services: AuditCliDependencies,
  { heads, ...named }: NamedOwner & { readonly heads?: string },
): Promise<number> {
  const witness = heads === undefined ? undefined : witnessAt(heads);
  const owner = await findChainOwner(services, named);
  let broken = 0;
  for (const { id, name } of owner ? [owner] : await everyOwner(services, witness)) {
    const { valid, entriesChecked, firstInvalidSequence, reason } = await (witness
      ? verifyChain(evidenceOf(services, witness), id)
      : verifyTenant(services, id));
    if (!valid) broken += 1;
    console.log(
      `${valid ? 'valid  ' : 'BROKEN '} ${name} ${id}: ${entriesChecked} entries${valid ? '' : `, ${reason} at ${firstInvalidSequence}`}`,
    );
  }
  return broken;
}

/** All chain owners, including those that only the witness still knows. */
async function everyOwner(services: AuditCliDependencies, witness: SealFile | undefined): Promise<ChainOwner[]> {
  const owners = await chainOwners(services);
  const known = new Set<string>(owners.map(({ id }) => id));
  return [
    ...owners,
    ...(witness?.owners() ?? [])
      .filter((id) => !known.has(id))
      .map((id) => ({ id, name: 'known only to the witness' })),
  ];
}

const owned = (command: Command): Command =>
  command
    .option('--tenant <id|slug>', 'the chain of this tenant')
    .option('--organization <id|slug>', 'the chain of this organization')
    .option('--installation', "the installation's own chain: recoveries, set-up, keys, sign-ins to unknown tenants");

export function addAuditCommands(program: Command, withApplication: WithApplication): void {
  const audit = program.command('audit').description('Verify and export audit logs');
  owned(audit.command('verify'))
    .description(
      'Replay the event log and compare every audit chain, or one, with it; exit code 1 if a chain is invalid',
    )
    .option(
      '--heads <file>',
      'also compare with sealed heads kept elsewhere: a copy of audit-heads.jsonl, or of the service log',
    )
    .action(async (named: NamedOwner & { heads?: string }) => {
      if ((await withApplication(({ services }) => auditVerify(services, named))) > 0) process.exitCode = 1;
    });
  owned(audit.command('export'))
    .description('Print an audit log, one JSON record per line, oldest first')
    .option('--limit <n>', 'print at most n records', (text) => {
      if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
      return Number(text);
    })
    .action(({ limit = Infinity, ...named }: NamedOwner & { limit?: number }) =>
      withApplication(async ({ services }) => {
        const owner = await findChainOwner(services, named);
        if (!owner)
          throw new FailureError(invalid('audit export', 'name the owner: --tenant, --organization or --installation'));
        let printed = 0;
        for await (const record of exportAuditLog(services.reads(owner.id), {}, (events) =>
          services.codec.reveal(events),
        )) {
          if (++printed > limit) return;
          console.log(JSON.stringify(record));
        }
      }),
    );
}
