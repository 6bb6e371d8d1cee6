import { createTransport } from 'nodemailer';
import type { GuardedConnect } from '../../../platform/outbound/guarded-connection.ts';
import type { AttemptOutcome } from '../channel.ts';
import { outcomeOfError } from './smtp-outcome.ts';

/** A tenant's mail server. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `starttls` is required, not opportunistic: without it, nothing is sent. */
  readonly security: 'none' | 'starttls' | 'tls';
  /** Only sent over TLS. */
  readonly login: { readonly username: string; readonly password: string } | null;
  /** PEM. Authorities to trust instead of the system's. */
  readonly caCertificate: string | null;
}

/** A composed message. All texts are free of control characters. */
export interface Mail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  /** The messages of one alert name the same one, so that mail programs show them together. */
  readonly thread: string | null;
  readonly isUrgent: boolean;
}

export interface SmtpLimits {
  /** For the whole conversation. */
  readonly totalMs: number;
  /** Until the greeting, and between two responses. */
  readonly silenceMs: number;
}

const LIMITS: SmtpLimits = { totalMs: 15_000, silenceMs: 10_000 };
const MAX_RESPONSE_BYTES = 16 * 1024;

/**
 * Hands one message to a mail server (RFC 5321) and says what became of it. The connection goes through the guard: the
 * name is resolved once, and its addresses are checked. The certificate must be valid and name the host.
 */
export async function sendMail(
  server: MailServer,
  mail: Mail,
  connect: GuardedConnect,
  signal: AbortSignal,
  { totalMs, silenceMs }: SmtpLimits = LIMITS,
): Promise<AttemptOutcome> {
  const { host, port, security, login, caCertificate } = server;
  if (login !== null && security === 'none')
    return { kind: 'refused', reason: 'a password is not sent without TLS: set smtpSecurity, or remove smtpUsername' };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(totalMs)]);
  const transport = createTransport({
    host,
    port,
    name: domainOf(mail.from),
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: { minVersion: 'TLSv1.2', ...(caCertificate === null ? {} : { ca: caCertificate }) },
    ...(login === null ? {} : { auth: { user: login.username, pass: login.password }, forceAuth: true }),
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, done) => {
      connect(host, port, limited).then(
        (connection) => done(null, { connection }),
        (error: Error) => done(error),
      );
    },
  });
  try {
    await transport.sendMail({ ...composed(mail), signal: limited });
    return { kind: 'accepted', response: 'accepted by the mail server' };
  } catch (error) {
    return outcomeOfError(error, limited.aborted);
  } finally {
    transport.close();
  }
}

const composed = ({ from, to, subject, text, html, messageId, thread, isUrgent }: Mail) => ({
  from: { name: 'Castellan', address: from },
  to: { name: '', address: to },
  envelope: { from, to: [to] },
  subject,
  text,
  html,
  messageId,
  ...(thread === null ? {} : { inReplyTo: thread, references: [thread] }),
  headers: {
    // RFC 3834 §5: no vacation notice in response.
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  },
  ...(isUrgent ? { priority: 'high' as const } : {}),
});

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
