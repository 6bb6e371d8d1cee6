import { CommanderError } from 'commander';
import { ConfigError } from '../../platform/config-error.ts';
import { CopyDiffers } from '../../contexts/installation/log-copy/page-check.ts';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { EmbeddedPostgresFailed } from '../../platform/embedded/failed.ts';
import { DataDirectoryInUse } from '../../platform/embedded/ownership.ts';
import { NotAFile } from '../../platform/file-content.ts';
import { Unseen } from '../../platform/is-found.ts';
import { LogNotTrusted } from '../../platform/eventstore/log-trust.ts';
import { AppendRefused, EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import { EventContractError } from '../../platform/eventstore/event-contract-error.ts';
import { FailureError } from '../../platform/kernel/failure.ts';
import { CannotFold } from '../../platform/projector/set-aside.ts';
import { WrongMasterKey } from '../../platform/vault/keyrings.ts';
import { NewerMasterKey } from '../../platform/vault/rewrap.ts';
import { OutputClosed } from './output.ts';

/** How a command ended, with its exit code. docs/reference/command-line.md describes them for operators. */
export const EXIT_CODES = {
  /** It succeeded, and found nothing wrong. */
  fine: 0,
  /** It found something wrong, such as a broken audit chain. */
  finding: 1,
  /** Wrong usage: an unknown option, name or setting, a state that does not allow it, or no consent. Nothing was done. */
  usage: 2,
  /** It could not check: the database is unreachable, a file cannot be read. */
  unavailable: 3,
} as const;
export type Outcome = keyof typeof EXIT_CODES;
export type ExitCode = (typeof EXIT_CODES)[Outcome];

/** What a command reports when it did what it was asked. */
export interface Report {
  /** The result for programs, as `--json` prints it. */
  readonly result: object;
  /** Something is wrong with the installation. */
  readonly isFinding?: boolean;
  /** Where `isFinding` is not enough: the command reports what it saw, and could not look at all. */
  readonly outcome?: Outcome;
}

/** The command was asked wrongly. The message says what is wrong and what to do. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Something in the installation is not as it should be. */
export class UnmetExpectation extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnmetExpectation';
  }
}

/** Something outside of Castellan is in the way, such as a file or a port. */
export class Obstacle extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Obstacle';
  }
}

export interface Ending {
  readonly outcome: Outcome;
  /** For the person at the terminal: one sentence, except for a defect. */
  readonly message: string;
}

/** The one place that maps errors to exit codes and sentences. */
export function endingOf(error: unknown): Ending {
  for (const kind of kinds) {
    const ending = kind(error);
    if (ending) return ending;
  }
  return { outcome: 'unavailable', message: describeDefect(error) };
}

const kinds: readonly ((error: unknown) => Ending | undefined)[] = [
  misuse,
  (error) =>
    error instanceof FailureError
      ? {
          outcome: ['unavailable', 'limited'].includes(error.failure.kind) ? 'unavailable' : 'usage',
          message: error.message,
        }
      : undefined,
  (error) =>
    [CopyDiffers, UnmetExpectation, CannotFold].some((kind) => error instanceof kind)
      ? { outcome: 'finding', message: (error as Error).message }
      : undefined,
  (error) =>
    error instanceof EventContractError
      ? { outcome: 'finding', message: `an event violates its contract: ${error.message}` }
      : undefined,
  outage,
  fileOrPort,
];

function misuse(error: unknown): Ending | undefined {
  if (error instanceof CommanderError) return { outcome: 'usage', message: parseMessage(error) };
  const isMisuse = [UsageError, ConfigError, WrongMasterKey, NewerMasterKey].some((kind) => error instanceof kind);
  return isMisuse ? { outcome: 'usage', message: (error as Error).message } : undefined;
}

/** Commander's message in one line. Without a command it prints the help instead of a message. */
const parseMessage = ({ code, message }: CommanderError): string =>
  code === 'commander.help' ? 'name a command' : message.replace(/^error: /, '').replaceAll('\n', ' ');

function outage(error: unknown): Ending | undefined {
  const unavailable = (message: string): Ending => ({ outcome: 'unavailable', message });
  if (error instanceof LogNotTrusted)
    return unavailable(`${error.message}; \`castellan restore status\` shows how to recover`);
  if (error instanceof EventStoreUnavailable) return unavailable(withCause(error));
  if (
    [Obstacle, NotAFile, Unseen, OutputClosed, DataDirectoryInUse, EmbeddedPostgresFailed, AppendRefused].some(
      (kind) => error instanceof kind,
    )
  )
    return unavailable((error as Error).message);
  if (isDatabaseUnavailable(error)) return unavailable(`the database cannot be reached (${(error as Error).message})`);
  // Errors of the server's side of a login or of rights: the database, a schema or a role is missing or not allowed.
  if (typeof sqlStateOf(error) === 'string' && REFUSALS.test(sqlStateOf(error)!))
    return unavailable(`the database refused (${(error as Error).message})`);
  return undefined;
}

/** Unknown database or role (3D, 28), missing rights (42501), unknown table or schema (42P01, 3F): not prepared for Castellan. */
const REFUSALS = /^(3D...|3F...|42501|42P01)$/;

const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof Error && 'severity' in error ? (error as { code?: string }).code : undefined;

/** Includes the server's message, so that a position it cannot serve is not mistaken for an outage. */
const withCause = ({ message, cause }: EventStoreUnavailable): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly path?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}

/** Errors of the operating system name what they concern: a file, or an address. */
function fileOrPort(error: unknown): Ending | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code, syscall, path, address, port } = cause as SystemError;
    if (typeof code !== 'string' || typeof syscall !== 'string') continue;
    if (code === 'EADDRINUSE' || (syscall === 'listen' && code === 'EACCES'))
      return {
        outcome: 'unavailable',
        message: `${String(address)}:${String(port)} ${code === 'EACCES' ? 'may not be used by this user' : 'is in use by another program'}: set PORT and TLS_PORT to free ports`,
      };
    if (typeof path === 'string')
      return { outcome: 'unavailable', message: `${path} cannot be used (${code}): check the path and its rights` };
    return { outcome: 'unavailable', message: cause.message };
  }
  return undefined;
}

/** With the stack, so that the operator can report it. */
const describeDefect = (error: unknown): string =>
  `unexpected error, please report it: ${(error as Error)?.stack ?? String(error)}`;
