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

/** The extension's action (choice OP-155). */
export const extensionActions = ruleActions;
/** The person's reaction to a warning (choice OP-155). */
export const userDecisions = ['proceeded', 'cancelled', 'none'] as const;

/**
 * Signals recognized before the decision: the conditions of policy rules (choice OP-107). A `policy_decision` reports
 * phishing with the same names. `any` is not a signal.
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
