import type { Command } from 'commander';
import { confirm } from './confirmation.ts';
import { performs, type CommandLine, type Granted } from './operator-command.ts';
import { textUpTo } from './option-values.ts';
import { UsageError, type Report } from './outcome.ts';
import { restoreAcceptLog, restoreRebuildFromLog, restoreStatus, type RestoreCliDependencies } from './restore.ts';
import type { Output } from './output.ts';
import type { RestoreState } from '../../contexts/installation/restore/restore-state.ts';

const MAX_REASON = 500;

interface Asked extends Granted {
  readonly reason?: string;
}

/** Either of the two recoveries: without `yes` it only says what would happen. */
type Recovery = (
  services: RestoreCliDependencies,
  asked: { readonly yes?: true; readonly reason?: string },
  say: (text: string) => void,
) => Promise<object | undefined>;

function statusReport({ mismatch, log, tables, end, reached, headsLost, unfinished }: RestoreState): Report {
  return {
    result: {
      mismatch: mismatch ? { kind: mismatch.kind, reason: mismatch.reason } : null,
      logInstallationId: log?.installationId ?? null,
      tablesInstallationId: tables?.installationId ?? null,
      endOfLog: end,
      tablesReached: reached,
      chainsWithLostHeads: [...headsLost.keys()],
      interruptedRestore: unfinished?.command ?? null,
    },
    isFinding: Boolean(mismatch) || headsLost.size > 0,
  };
}

/** Shows the consequences, then asks on a terminal. `--yes` and a reason stand for both. */
async function recover(
  cli: CommandLine,
  output: Output,
  { yes, dryRun, reason }: Asked,
  recovery: Recovery,
): Promise<Report> {
  if (!dryRun && reason === undefined)
    throw new UsageError(
      '--reason is required, for the audit log of the installation; --dry-run only shows what would be lost',
    );
  if (!yes) await cli.withApplication(({ services }) => recovery(services, {}, output.say), 'looks');
  if (dryRun) return { result: { done: false } };
  if (!yes) await confirm(output.terminal, QUESTION);
  const done = await cli.withApplication(({ services }) =>
    recovery(services, { yes: true, reason: reason! }, output.say),
  );
  return { result: { done: true, ...done } };
}

const QUESTION = 'This cannot be undone. Every process of the service must be stopped.';

export function addRestoreCommands(program: Command, cli: CommandLine): void {
  const restore = program
    .command('restore')
    .description('Recover after event log and database were restored to different points in time');
  performs(
    cli,
    restore
      .command('status')
      .description('Show whether event log, tables and keys match, and how to recover; exit code 1 if they do not'),
    'looks',
    (output) => cli.withApplication(async ({ services }) => statusReport(await restoreStatus(services, output.say))),
  );
  const recoveries: [name: string, description: string, recovery: Recovery][] = [
    [
      'accept-log',
      'Accept an older or empty event log: bring read models, reactions and audit heads to it',
      restoreAcceptLog,
    ],
    ['rebuild-from-log', 'Accept an older database: bring its tables to the event log', restoreRebuildFromLog],
  ];
  for (const [name, description, recovery] of recoveries)
    performs(
      cli,
      restore
        .command(name)
        .description(description)
        .option('--reason <text>', 'for the audit log of the installation', textUpTo(MAX_REASON)),
      'changes',
      (output, asked: Asked) => recover(cli, output, asked, recovery),
      { question: (_asked: Asked) => QUESTION, dryRun: 'only show what would be lost', asksLater: true },
    );
}
