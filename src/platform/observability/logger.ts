import pino, { type Logger } from 'pino';
import { recentLogLines } from './recent-log-lines.ts';

const SECRETS = [
  'password',
  'newPassword',
  'confirmPassword',
  'temporaryPassword',
  'tempPassword',
  'token',
  'accessToken',
  'refreshToken',
  'mfaToken',
  'tempToken',
  'reAuthToken',
  'recoveryKey',
  'backupCode',
  'backupCodes',
  'secret',
  'otpauthUrl',
  'qrCode',
  'clientSecret',
  'apiKey',
  'secretAccessKey',
  'privateKey',
  'authorization',
];

/** Chosen fields of an error stay as they are: pino would take them for an error, of type `Object` and with a stack. */
const errorFields = (err: unknown): unknown => (err instanceof Error ? pino.stdSerializers.err(err) : err);

/** The service's log. Fields with these names are redacted in every line. */
export function newLogger(level: string, destination?: pino.DestinationStream): Logger {
  const options = {
    level,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    serializers: { err: errorFields },
  };
  // Support bundles contain the latest lines.
  return pino(
    options,
    pino.multistream([
      { level: 'trace', stream: destination ?? pino.destination(1) },
      { level: 'trace', stream: recentLogLines },
    ]),
  );
}
