import { OutboundRefused } from '../../../platform/outbound/address-guard.ts';
import { certificateProblem } from '../../../platform/outbound/certificate-problem.ts';
import type { AttemptOutcome } from '../channel.ts';

/** As nodemailer reports it. */
interface SmtpError extends Error {
  readonly code?: unknown;
  /** The code of the system or of TLS, where `code` is one of nodemailer's. */
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
}

/** Commands that are about the message. A refusal of any other command is about the server or its settings. */
const ABOUT_THE_MESSAGE: Readonly<Record<string, string>> = {
  'MAIL FROM': 'the sender',
  'RCPT TO': 'the recipient',
  DATA: 'the message',
};

const CODES: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the user name and password',
  ENOAUTH: 'the mail server does not accept the user name and password',
  ETLS: 'a TLS connection to the mail server cannot be opened',
  ETIMEDOUT: 'the mail server did not respond in time',
  ECONNREFUSED: 'the mail server refused the connection',
  ENOTFOUND: 'the name of the mail server does not resolve',
  EAI_AGAIN: 'the name of the mail server does not resolve',
  EPROTOCOL: 'the mail server does not speak SMTP',
};

/**
 * What became of a message that was not accepted. A permanent refusal of sender, recipient or message is final (RFC
 * 5321 §4.2.1). Everything else may pass or be corrected, a wrong password too, so the message is tried again. The texts
 * are ours: what a server says may repeat what it was sent.
 */
export function outcomeOfError(thrown: unknown, isLate: boolean): AttemptOutcome {
  const error = thrown as SmtpError;
  if (thrown instanceof OutboundRefused) return { kind: 'deferred', reason: thrown.message };
  if (isLate) return { kind: 'deferred', reason: CODES['ETIMEDOUT']! };
  const responseCode = typeof error.responseCode === 'number' ? error.responseCode : undefined;
  const about = ABOUT_THE_MESSAGE[String(error.command)];
  if (about !== undefined && responseCode !== undefined)
    return responseCode >= 500
      ? { kind: 'refused', reason: `the mail server refused ${about} (${responseCode})` }
      : { kind: 'deferred', reason: `the mail server asks to try ${about} later (${responseCode})` };
  return { kind: 'deferred', reason: reasonOf(error, responseCode) };
}

function reasonOf(error: SmtpError, responseCode: number | undefined): string {
  const problem = certificateProblem(Object.assign(new Error('TLS'), { code: error.originalCode ?? error.code }));
  if (problem !== undefined) return `the certificate of the mail server was not accepted (${problem})`;
  const known = CODES[String(error.originalCode)] ?? CODES[String(error.code)];
  const status = responseCode === undefined ? '' : ` (${responseCode})`;
  return `${known ?? 'the mail server cannot be reached'}${status}`;
}
