import { Option, type Command } from 'commander';
import { confirm } from './confirmation.ts';
import { EXIT_CODES, UsageError, type ExitCode, type Outcome, type Report } from './outcome.ts';
import { Output } from './output.ts';
import { isInteractive, type Terminal } from './terminal.ts';
import type { Application } from '../compose/compose.ts';
import type { CommandEffect } from './application.ts';

/** One run of the program: its commands get what they need from here, and leave the exit code. */
export interface CommandLine {
  readonly terminal: Terminal;
  /** By default with the effect that the command declares; it may look before it changes anything. */
  readonly withApplication: <T>(work: (application: Application) => Promise<T>, effect?: 'looks') => Promise<T>;
  /** Whether the reader of standard output has gone. */
  readonly isOutputClosed: () => boolean;
  /** What each command declares. */
  readonly effects: Map<Command, CommandEffect>;
  /** That of the command that runs. */
  effect: CommandEffect;
  exitCode: ExitCode;
}

/** What a command asks before it does something that a person may regret. */
export interface Consent<Args extends readonly unknown[]> {
  /** The question. Undefined if the arguments ask for nothing harmful. */
  readonly question: (...args: Args) => string | undefined;
  /** What `--dry-run` shows. Without it there is no such option. */
  readonly dryRun?: string;
  /** The command shows the consequences first, then asks by itself. */
  readonly asksLater?: true;
}

export interface Granted {
  readonly yes?: true;
  readonly dryRun?: true;
}

const JSON_OPTION = '--json';

/**
 * Makes a command of the command line: the only way to give one an action. Adds `--json`, asks for consent, and prints
 * what the work reports. Errors are thrown to `runCastellan`.
 */
export function performs<Args extends unknown[]>(
  cli: CommandLine,
  command: Command,
  effect: CommandEffect,
  work: (output: Output, ...args: Args) => Promise<Report> | Report,
  consent?: Consent<Args>,
): Command {
  cli.effects.set(command, effect);
  if (consent) command.addOption(new Option('--yes', 'do it without asking'));
  if (consent?.dryRun) command.addOption(new Option('--dry-run', consent.dryRun));
  return command.addOption(new Option(JSON_OPTION, 'print the result as JSON')).action(async (...all: unknown[]) => {
    const self = all.at(-1) as Command;
    const args = all.slice(0, -1) as Args;
    const output = new Output(cli.terminal, self.opts()['json'] === true, cli.isOutputClosed);
    refuseUnreadable(self);
    const { yes, dryRun } = self.opts<Granted>();
    const question = yes || dryRun ? undefined : consent?.question(...args);
    if (question && !(consent?.asksLater && isInteractive(cli.terminal))) await confirm(cli.terminal, question);
    cli.effect = dryRun ? 'looks' : effect;
    const { result, isFinding = false, outcome = isFinding ? 'finding' : 'fine' } = await work(output, ...args);
    cli.exitCode = EXIT_CODES[outcome];
    if (output.isJson) output.record(envelope(nameOf(self), outcome, { result }));
  });
}

/**
 * An empty value is mostly an unset variable of a script: taken as "not given", it would widen what the command does.
 * NUL and halves of characters can be stored nowhere.
 */
function refuseUnreadable(command: Command): void {
  const given = [
    ...command.options.map((option) => [option.long, command.getOptionValue(option.attributeName())] as const),
    ...command.registeredArguments.map((argument, at) => [argument.name(), command.args[at]] as const),
  ];
  for (const [name, value] of given)
    if (typeof value === 'string' && (value.trim() === '' || value.includes('\0') || !value.isWellFormed()))
      throw new UsageError(`${name} needs a value of readable text`);
}

/** The one shape of what `--json` prints. */
export const envelope = (
  command: string,
  outcome: Outcome,
  content: { result: object } | { error: string },
): object => ({
  command,
  outcome,
  exitCode: EXIT_CODES[outcome],
  ...content,
});

/** `audit verify` */
export function nameOf(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each?.parent; each = each.parent) names.unshift(each.name());
  return names.join(' ');
}

/** Every command that does something. */
export const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

/** Every command has the option, so it may stand in front of the command, too. */
export const withJsonLast = (argv: readonly string[]): readonly string[] =>
  argv[0] === JSON_OPTION ? [...argv.slice(1), JSON_OPTION] : argv;

export const isJsonAsked = (argv: readonly string[]): boolean => argv.includes(JSON_OPTION);
