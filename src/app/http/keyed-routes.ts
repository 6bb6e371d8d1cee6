import type { Access } from './access.ts';

interface KeyedRoute {
  readonly method: string;
  readonly access: Access;
  readonly streamsFile?: true;
  readonly issuesProof?: true;
}

/** Whether a request may carry `Idempotency-Key` (OP-014). */
export const takesIdempotencyKey = ({ method, access: { kind }, streamsFile, issuesProof }: KeyedRoute): boolean =>
  method === 'POST' && (kind === 'admin' || kind === 'org') && !streamsFile && !issuesProof;
