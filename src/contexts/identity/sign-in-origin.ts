import type { AttemptSource } from './domain/login-limits.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { KnownAccountName } from './known-browsers.ts';

/** Who asks to be let in: as the audit log names them, and as their tries are counted. */
export interface SignInOrigin {
  readonly actor: Actor;
  /** Their browser, where it proves that it signed in to this account before; otherwise their address. */
  sourceOf(account: KnownAccountName): AttemptSource;
}
