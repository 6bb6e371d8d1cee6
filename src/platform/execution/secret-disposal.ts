import type { SecretRef } from '../kernel/command.ts';
import type { TenantId } from '../kernel/ids.ts';

/**
 * Secrets that a decision gives up, and the append that does so: events of this command, directly after this revision.
 */
export interface GivenUpSecrets {
  readonly tenantId: TenantId;
  readonly stream: string;
  readonly expectedRevision: bigint;
  readonly commandId: string;
  readonly secrets: readonly SecretRef[];
}

/** Destroys secrets once the events that give them up are in the log, even if this process dies in between. */
export interface SecretDisposal {
  /**
   * Call before the append. Never throws: leaving an unreferenced sealed secret behind is no reason to reject a change.
   */
  plan(givenUp: GivenUpSecrets): Promise<void>;
  /** Call after the append. Never throws: the planned job retries later. */
  carryOut(givenUp: GivenUpSecrets): Promise<void>;
}

/** For an executor whose commands refer to no secrets. */
export const noSecrets: SecretDisposal = {
  plan: ({ secrets }) =>
    Promise.reject(
      new TypeError(`no secret disposal is configured for the ${secrets.length} secrets that a decision gives up`),
    ),
  carryOut: () => Promise.resolve(),
};
