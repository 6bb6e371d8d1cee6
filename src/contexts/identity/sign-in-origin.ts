import type { AttemptSource } from './domain/login-limits.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { KnownAccountName } from './known-browsers.ts';

/** Who requests the sign-in: the actor for the audit log, and the source for counting attempts. */
export interface SignInOrigin {
  readonly actor: Actor;
  /** The client's browser, if it proves an earlier sign-in to this account; otherwise its address. */
  sourceOf(account: KnownAccountName): AttemptSource;
  /** Has something given back if the request gets 503 (decision 0206). It must not reject. */
  giveBackIfRepeatable(giveBack: () => Promise<void>): void;
}
