import { Option, type Command } from 'commander';
import { exportAuditLog } from '../../../queries/audit/export-audit-log.ts';
import {
  chainOwners,
  findChainOwner,
  type ChainOwner,
  type NamedOwner,
  type ChainOwnersDependencies,
} from '../../contexts/audit/chain-owners.ts';
import { FiledSeals, HEADS_BYTES } from '../../contexts/audit/filed-seals.ts';
import { damagedHeads, SealFile } from '../../contexts/audit/seal-file.ts';
import { evidenceOf, verifyChain, verifyTenant, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import { auditProof } from './audit-proof.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { contentOf, wholeNumber } from './option-values.ts';
import { Obstacle, UsageError, type Report } from './outcome.ts';
import { sayVerdict, verdictOf, type ChainVerdict } from './chain-verdict.ts';
import type { Output } from './output.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

export interface AuditCliDependencies extends ChainOwnersDependencies, VerifyDependencies {}

/**
 * Reads a copy of the file of sealed heads, or of a service log that contains them: once, because what a pipe has given is
 * gone. Throws `Obstacle` if it holds none.
 */
function witnessAt(path: string): FiledSeals {
  const witness = new FiledSeals(contentOf('--heads', path, HEADS_BYTES));
  // A copy that became empty would prove nothing, every night.
  if (witness.owners().length === 0)
    throw new Obstacle(`--heads: ${path} holds no sealed heads: nothing could be compared with it`);
  return witness;
}

/** One verdict per chain, for all owners if none is named. `say` gets a line for each as it is known. */
export async function auditVerify(
  services: AuditCliDependencies,
  { witness, ...named }: NamedOwner & { readonly witness?: FiledSeals | undefined },
  say: (line: string) => void,
): Promise<ChainVerdict[]> {
  const owner = await findChainOwner(services, named);
  const verdicts: ChainVerdict[] = [];
  for (const each of owner ? [owner] : await everyOwner(services, witness)) {
    const verdict = verdictOf(
      each,
      await (witness ? verifyChain(evidenceOf(services, witness), each.id) : verifyTenant(services, each.id)),
    );
    sayVerdict(verdict, 'entries', say);
    verdicts.push(verdict);
  }
  return verdicts;
}

/**
 * All chain owners, including those that only sealed heads still know: a database from before an owner knows nothing of it.
 * The file is read first, so that a chain that is sealed meanwhile is found where it is.
 */
async function everyOwner(services: AuditCliDependencies, witness: FiledSeals | undefined): Promise<ChainOwner[]> {
  const filed = new SealFile(services.config.dataDir).owners();
  const owners = new Map((await chainOwners(services)).map((owner) => [owner.id, owner]));
  const add = (ids: readonly TenantId[], name: string) => {
    for (const id of ids) if (!owners.has(id)) owners.set(id, { id, name });
  };
  add(filed, 'known only to audit-heads.jsonl');
  add(witness?.owners() ?? [], 'known only to the witness');
  return [...owners.values()];
}

const owned = (command: Command): Command =>
  command
    .addOption(new Option('--tenant <id|slug>', 'the chain of this tenant').conflicts(['organization', 'installation']))
    .addOption(new Option('--organization <id|slug>', 'the chain of this organization').conflicts('installation'))
    .option('--installation', "the installation's own chain: recoveries, set-up, keys, sign-ins to unknown tenants");

interface ExportDependencies extends ChainOwnersDependencies {
  readonly codec: EventCodec;
}

async function auditExport(
  services: ExportDependencies,
  output: Output,
  { limit = Infinity, ...named }: NamedOwner & { limit?: number },
): Promise<Report> {
  const owner = await findChainOwner(services, named);
  let records = 0;
  for await (const record of exportAuditLog(services.reads(owner!.id), {}, (events) => services.codec.reveal(events))) {
    if (records >= limit) break;
    output.record(record);
    records += 1;
  }
  return { result: { records } };
}

function refuseUnnamed({ tenant, organization, installation }: NamedOwner): void {
  if (!(tenant ?? organization ?? installation))
    throw new UsageError('name the owner: --tenant, --organization or --installation');
}

export function addAuditCommands(program: Command, cli: CommandLine): void {
  const audit = program.command('audit').description('Verify and export audit logs');
  performs(
    cli,
    owned(audit.command('verify'))
      .description(
        'Replay the event log and compare every audit chain, or one, with it; exit code 1 if a chain is invalid, or audit-heads.jsonl damaged',
      )
      .option(
        '--heads <file>',
        'also compare with sealed heads kept elsewhere: a copy of audit-heads.jsonl, or of the service log',
      ),
    'looks',
    async (output, { heads, ...named }: NamedOwner & { heads?: string }) => {
      // Before anything is opened.
      const witness = heads === undefined ? undefined : witnessAt(heads);
      const { chains, damaged } = await cli.withApplication(async ({ services }) => ({
        chains: await auditVerify(services, { ...named, witness }, output.say),
        damaged: new SealFile(services.config.dataDir).damagedLines(),
      }));
      if (damaged > 0) output.say(`damaged ${damagedHeads(damaged)}`);
      return {
        result: { chains, damagedHeadLines: damaged },
        isFinding: damaged > 0 || chains.some(({ valid }) => !valid),
      };
    },
  );
  performs(
    cli,
    owned(audit.command('export'))
      .description(
        'Print an audit log, one JSON record per line, oldest first; --json adds a last line with the outcome',
      )
      .option('--limit <n>', 'print at most n records', wholeNumber(999_999_999)),
    'looks',
    (output, asked: NamedOwner & { limit?: number }) => {
      refuseUnnamed(asked);
      return cli.withApplication(({ services }) => auditExport(services, output, asked));
    },
  );
  performs(
    cli,
    owned(audit.command('proof')).description(
      'Verify an audit log and print it with a signed statement that others can check, by examples/audit-proof/verify.mjs; exit code 1 if the chain is invalid',
    ),
    'looks',
    (output, asked: NamedOwner) => {
      refuseUnnamed(asked);
      return cli.withApplication(async ({ services }) =>
        auditProof(services, output, (await findChainOwner(services, asked))!),
      );
    },
  );
}
