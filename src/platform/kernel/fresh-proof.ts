import type { Actor } from './actor.ts';
import { reauthenticationRequired, type Failure } from './failure.ts';

/**
 * Changes to who controls an account, where data goes and who hears of attacks need a fresh proof of identity (decisions
 * 0025 and 0129). Otherwise a stolen access token would be enough for a lasting takeover. The system itself needs no proof.
 */
export const refuseUnlessReauthenticated = (actor: Actor, reauthenticated: boolean | undefined): Failure | undefined =>
  actor.kind === 'system' || reauthenticated === true ? undefined : reauthenticationRequired();
