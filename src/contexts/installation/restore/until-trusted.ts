import type { LogTrust } from '../../../platform/eventstore/log-trust.ts';
import { conflict, FailureError } from '../../../platform/kernel/failure.ts';

const TIMEOUT_MS = 60_000;

/**
 * Waits until this process has confirmed that log, tables and keys match. Throws `FailureError` with the reason if they
 * do not.
 */
export async function untilTrusted(trust: LogTrust): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!trust.holds && Date.now() < deadline) await trust.changed(deadline - Date.now());
  if (!trust.holds)
    throw new FailureError(
      conflict('command_refused', `log and tables still do not belong together: ${trust.doubt?.reason}`),
    );
}
