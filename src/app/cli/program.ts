import { Command, CommanderError } from 'commander';
import { version } from '../../platform/version.ts';
import { addAdminCommands } from './admins.ts';
import { applicationIn, type WithApplication } from './application.ts';
import { addAuditCommands } from './audit.ts';
import { addDatabaseCommands } from './database.ts';
import { addDemoCommand } from './demo.ts';
import { addDoctorCommand } from './doctor.ts';
import { addEventStoreCommands } from './eventstore.ts';
import { addKeysCommands } from './keys.ts';
import { addLicenseCommands } from './license.ts';
import { addLogCommands } from './log-commands.ts';
import { addMasterKeyCommands } from './master-key.ts';
import { envelope, isJsonAsked, nameOf, withJsonLast, type CommandLine } from './operator-command.ts';
import { addOrganizationCommands } from './organizations.ts';
import { finished } from './finished-output.ts';
import { helpOf } from './help.ts';
import { EXIT_CODES, endingOf, Obstacle, type ExitCode } from './outcome.ts';
import { jsonLine, Output, OutputClosed } from './output.ts';
import { addPeopleCommands } from './people.ts';
import { addProjectionCommands } from './projections.ts';
import { addRestoreCommands } from './restore-commands.ts';
import { addTenantCommands } from './tenants.ts';
import type { Terminal } from './terminal.ts';

/** The registry of the command line. `docs/reference/command-line.md` is generated from it. */
export function castellanProgram(cli: CommandLine, isJson = false): Command {
  const { stdout, stderr, env } = cli.terminal;
  const program = new Command('castellan')
    .description('Operates a Castellan installation')
    .version(version)
    .showSuggestionAfterError()
    .configureHelp({ minWidthToWrap: 20 })
    // Below, so that commands inherit it: errors are thrown, and printed in one place.
    .exitOverride()
    .configureOutput({
      // Help and version: `--json` prints them as a document.
      writeOut: (text) => void (isJson || stdout.write(text)),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 120,
      getErrHelpWidth: () => stderr.columns ?? 120,
      getOutHasColors: () => stdout.isTTY === true && !env['NO_COLOR'],
      getErrHasColors: () => stderr.isTTY === true && !env['NO_COLOR'],
      outputError: () => undefined,
    });
  addKeysCommands(program, cli);
  addLicenseCommands(program, cli);
  addTenantCommands(program, cli);
  addOrganizationCommands(program, cli);
  addAdminCommands(program, cli);
  addPeopleCommands(program, cli);
  addProjectionCommands(program, cli);
  addAuditCommands(program, cli);
  addRestoreCommands(program, cli);
  addMasterKeyCommands(program, cli);
  addDatabaseCommands(program, cli);
  addEventStoreCommands(program, cli);
  addLogCommands(program, cli);
  addDoctorCommand(program, cli);
  addDemoCommand(program, cli);
  return program;
}

/** Runs one command. Returns the exit code of the process; never throws. */
export async function runCastellan(
  argv: readonly string[],
  terminal: Terminal,
  withApplication: WithApplication = applicationIn(terminal.env),
): Promise<ExitCode> {
  let isClosed = false;
  let failure: NodeJS.ErrnoException | undefined;
  const notice = (error: NodeJS.ErrnoException) => {
    isClosed = true;
    failure ??= error;
  };
  // `castellan … | head`: the reader goes before everything is written. The error may arrive after the last line.
  terminal.stdout.on('error', notice);
  terminal.stderr.on('error', ignore);
  const cli: CommandLine = {
    terminal,
    withApplication: (work, effect) => withApplication(work, effect ?? cli.effect),
    effects: new Map(),
    effect: 'looks',
    isOutputClosed: () => isClosed,
    exitCode: EXIT_CODES.fine,
  };
  const isJson = isJsonAsked(argv);
  const program = castellanProgram(cli, isJson);
  try {
    await program.parseAsync(understood(program, argv), { from: 'user' });
    await finished(terminal.stdout);
    if (isLost(failure)) throw unwritten(failure!);
    return cli.exitCode;
  } catch (error) {
    // Help and version that were asked for.
    const isAsked = error instanceof CommanderError && error.exitCode === 0;
    if (isAsked && isJson) terminal.stdout.write(`${jsonLine(askedFor(error, program, argv))}\n`);
    if (isAsked) await finished(terminal.stdout);
    if (isAsked && !isLost(failure)) return EXIT_CODES.fine;
    return reported(
      isAsked ? unwritten(failure!) : error,
      commandIn(program, withJsonLast(argv)),
      new Output(terminal, isJson, () => isClosed),
    );
  }
}

/** A group of commands has no `--json`; what it refuses, and its help, are printed as JSON nevertheless. */
function understood(program: Command, argv: readonly string[]): readonly string[] {
  const words = withJsonLast(argv);
  const isGroup = commandIn(program, words).commands.length > 0;
  return isGroup ? words.filter((word) => !isJsonAsked([word])) : words;
}

/** What `--json` prints of the version or of the help of a command. */
function askedFor({ code }: CommanderError, program: Command, argv: readonly string[]): object {
  if (code === 'commander.version') return envelope('', 'fine', { result: { version } });
  const command = commandIn(
    program,
    argv.filter((word) => word !== 'help'),
  );
  return envelope(nameOf(command), 'fine', { result: helpOf(command) });
}

const ignore = (): void => undefined;

/** A reader that has gone after the last line has what it wanted. A full disk has not. */
const isLost = (failure: NodeJS.ErrnoException | undefined): boolean =>
  failure !== undefined && failure.code !== 'EPIPE';

const unwritten = ({ code, message }: NodeJS.ErrnoException): Obstacle =>
  new Obstacle(
    `the output could not be written (${code ?? message}): what the command did is done, and what it printed is lost`,
  );

function reported(error: unknown, command: Command, output: Output): ExitCode {
  const { outcome, message } = endingOf(error);
  if (!(error instanceof OutputClosed)) output.warn(`castellan: ${message}`);
  if (error instanceof CommanderError && error.code !== 'commander.help')
    output.warn(`See: castellan ${[nameOf(command), '--help'].filter(Boolean).join(' ')}`);
  try {
    if (output.isJson) output.record(envelope(nameOf(command), outcome, { error: message }));
  } catch (closed) {
    if (!(closed instanceof OutputClosed)) throw closed;
  }
  return EXIT_CODES[outcome];
}

/** The deepest command that the arguments name. */
function commandIn(program: Command, argv: readonly string[]): Command {
  let found = program;
  for (const word of argv) {
    const next = found.commands.find((command) => command.name() === word);
    if (!next) break;
    found = next;
  }
  return found;
}
