import { certificateProblem } from '../../../platform/outbound/certificate-problem.ts';
import { OutboundRefused } from '../../../platform/outbound/guarded-fetch.ts';

const LATE = /^(?:TimeoutError|AbortError)$|TIMEOUT|ETIMEDOUT|ABORTED/;

/** Why a call failed, in words of ours. `peer` begins the sentence. */
export function reasonOfFetch(peer: string, error: unknown): string {
  if (error instanceof OutboundRefused) return error.message;
  const problem = certificateProblem(error);
  if (problem !== undefined) return `the certificate of ${peer} was not accepted (${problem})`;
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (LATE.test(String(name)) || LATE.test(String(code))) return `${peer} did not respond in time`;
  return `${peer} cannot be reached`;
}
