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

/** A copy of the file of sealed heads, or a log with the lines that tell of them. */
function witnessAt(path: string): SealFile {
  if (!existsSync(path)) throw new FailureError(invalid('--heads', `there is no file ${path}`));
  return new SealFile(dirname(path), basename(path));
}

/** Prints a verdict a chain, of everybody where nobody is named; answers how many do not hold. */
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

/** A chain of which nothing is left but what the witness saw has an owner too. */
async function everyOwner(services: AuditCliDependencies, witness: SealFile | undefined): Promise<ChainOwner[]> {
  const owners = await chainOwners(services);
  const known = new Set<string>(owners.map(({ id }) => id));
  return [
    ...owners,
    ...(witness?.owners() ?? [])
      .filter((id) => !known.has(id))
      .map((id) => ({ id, name: 'known to the witness alone' })),
  ];
}

/** Whose chain is meant. */
const owned = (command: Command): Command =>
  command
    .option('--tenant <id|slug>', "this tenant's")
    .option('--organization <id|slug>', "this organization's")
    .option(
      '--installation',
      "the installation's own: recoveries, set-up, keys, strangers at doors that there are not",
    );

export function addAuditCommands(program: Command, withApplication: WithApplication): void {
  const audit = program.command('audit').description('the record of decisions');
  owned(audit.command('verify'))
    .description(
      'replay the event log and hold every audit chain, or one, against it; exit code 1 if one does not hold',
    )
    .option(
      '--heads <file>',
      'hold them also against sealed heads that were kept elsewhere: a copy of audit-heads.jsonl, or of the service log',
    )
    .action(async (named: NamedOwner & { heads?: string }) => {
      if ((await withApplication(({ services }) => auditVerify(services, named))) > 0) process.exitCode = 1;
    });
  owned(audit.command('export'))
    .description('print an audit log, a JSON record a line, oldest first')
    .option('--limit <n>', 'stop after so many', (text) => {
      if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
      return Number(text);
    })
    .action(({ limit = Infinity, ...named }: NamedOwner & { limit?: number }) =>
      withApplication(async ({ services }) => {
        const owner = await findChainOwner(services, named);
        if (!owner)
          throw new FailureError(invalid('audit export', 'whose? --tenant, --organization or --installation'));
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
