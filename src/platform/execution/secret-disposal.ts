import type { SecretRef } from '../kernel/command.ts';
import type { TenantId } from '../kernel/ids.ts';

/** Secrets that a decision gives up, and the append that makes it so: this command's events, right behind this revision. */
export interface GivenUpSecrets {
  readonly tenantId: TenantId;
  readonly stream: string;
  readonly expectedRevision: bigint;
  readonly commandId: string;
  readonly secrets: readonly SecretRef[];
}

/** Destroys secrets once the events that give them up are in the log, whatever happens to this process in between. */
export interface SecretDisposal {
  /** Before the append. Never throws: a change is not refused because a sealed secret that nothing refers to may stay behind. */
  plan(givenUp: GivenUpSecrets): Promise<void>;
  /** After the append. Never throws: what was planned is carried out later. */
  carryOut(givenUp: GivenUpSecrets): Promise<void>;
}

/** For an executor whose commands refer to no secrets. */
export const noSecrets: SecretDisposal = {
  plan: ({ secrets }) =>
    Promise.reject(new TypeError(`nobody destroys the ${secrets.length} secrets that a decision gives up`)),
  carryOut: () => Promise.resolve(),
};
