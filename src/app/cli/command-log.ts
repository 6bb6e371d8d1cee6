import pino, { type Logger } from 'pino';
import { newLogger } from '../../platform/observability/logger.ts';

const STDERR = 2;

/** The log of a command goes to standard error: standard output holds the result, which may be piped into another program. */
export const commandLogger = (env: NodeJS.ProcessEnv): Logger =>
  newLogger(env['LOG_LEVEL'] || 'warn', pino.destination(STDERR));
