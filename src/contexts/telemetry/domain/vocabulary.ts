import { conditions, ruleActions } from '../../policies/domain/events.ts';

/** Choice OP-154. */
export const observationKinds = [
  'navigation',
  'credential_attempt',
  'auth_flow',
  'extension_inventory',
  'extension_event',
  'policy_decision',
  'clickfix_detected',
  'canary_cookie_triggered',
  'screenshot',
  'wipe_completed',
] as const;
export type ObservationKind = (typeof observationKinds)[number];

/** What the extension did about it (choice OP-155). */
export const extensionActions = ruleActions;
/** What the person did about a warning (choice OP-155). */
export const userDecisions = ['proceeded', 'cancelled', 'none'] as const;

/**
 * What the extension recognized before it decided: the conditions of policy rules (choice OP-107), which is also the word
 * by which a `policy_decision` reports phishing. `any` is no signal.
 */
export const signals = conditions.filter((condition) => condition !== 'any');
export type Signal = (typeof signals)[number];

/** Choice OP-157. */
export const authMethods = ['password', 'oidc', 'saml', 'passkey', 'magic_link'] as const;
export const authOutcomes = ['success', 'failure', 'unknown'] as const;

/** Choice OP-158. */
export const extensionChangeKinds = [
  'installed',
  'updated',
  'removed',
  'enabled',
  'disabled',
  'permissions_changed',
] as const;
