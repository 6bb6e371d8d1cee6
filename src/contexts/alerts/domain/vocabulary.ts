import { z } from 'zod';

export const severities = ['critical', 'high', 'medium', 'low'] as const;
export const severitySchema = z.enum(severities);
export type Severity = (typeof severities)[number];

export const alertStatuses = ['open', 'acknowledged', 'resolved', 'false_positive'] as const;
export type AlertStatus = (typeof alertStatuses)[number];

/** Choice OP-071. */
export const alertTypes = [
  'password_reuse',
  'breached_password',
  'phishing_detected',
  'malicious_domain',
  'policy_violation',
  'weak_password',
  'clickfix_detected',
  'canary_cookie_triggered',
  'unwhitelisted_extension',
  'extension_permission_change',
  'device_stale',
  'mfa_missing',
  'verification_failed',
] as const;
export const alertTypeSchema = z.enum(alertTypes);
export type AlertType = (typeof alertTypes)[number];

export const policyActions = ['created', 'added_to_existing', 'skipped', 'advanced'] as const;
export const policyActionSchema = z.enum(policyActions);
/** The action is about one policy, which has to be named. */
export const namesPolicy = (action: (typeof policyActions)[number]): boolean =>
  action === 'created' || action === 'added_to_existing';

/** Default severity of new alerts by type; a tenant may override it (choice OP-087). */
export const defaultSeverities: Readonly<Record<AlertType, Severity>> = {
  phishing_detected: 'critical',
  malicious_domain: 'critical',
  canary_cookie_triggered: 'critical',
  breached_password: 'high',
  clickfix_detected: 'high',
  password_reuse: 'medium',
  policy_violation: 'medium',
  unwhitelisted_extension: 'medium',
  extension_permission_change: 'medium',
  weak_password: 'low',
  device_stale: 'low',
  mfa_missing: 'low',
  verification_failed: 'low',
};
