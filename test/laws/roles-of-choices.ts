import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';

const ROLES: Readonly<Record<string, AdminRole>> = { SA: 'super_admin', AD: 'admin', AN: 'analyst', VI: 'viewer' };
const ALL = 'SA AD AN VI';

/**
 * Choices OP-255 … OP-281 by address instead of by permission: who reads (GET) and who writes. Below `/api/v1/admin`.
 * The first matching line counts; a line with a method counts for that method only. This finds a route that names the
 * wrong permission.
 */
const TABLE: readonly (readonly [address: string, reads: string, writes: string])[] = [
  ['/me', ALL, ALL],
  ['/verify-password', ALL, ALL],
  ['/change-password', ALL, ALL],
  ['/mfa', ALL, ALL],
  ['/users', ALL, 'SA AD'],
  ['/credential-stats', ALL, ''],
  ['/alerts', ALL, 'SA AD AN'],
  ['/endpoints', ALL, 'SA AD AN'],
  ['/auth-endpoints', ALL, 'SA AD AN'],
  ['/attack-surface', ALL, 'SA AD AN'],
  ['PUT /devices/{deviceID}/silence-stale-alerts', '', 'SA AD AN'],
  ['/devices', ALL, 'SA AD'],
  ['/fleet-health', ALL, ''],
  ['/security-posture', ALL, ''],
  ['/dashboard', ALL, ''],
  ['/filters', ALL, ''],
  ['/support-bundle', 'SA', ''],
  ['POST /policies/test', '', 'SA AD AN'],
  ['/policies', ALL, 'SA AD'],
  ['/domain-scope', ALL, 'SA AD'],
  ['/phishing-whitelist', ALL, 'SA AD'],
  ['/unblock-keys', 'SA AD AN', 'SA AD AN'],
  ['/settings/license', 'SA AD', 'SA'],
  ['/settings/external-base-url', ALL, 'SA'],
  ['/offboarding/settings', ALL, 'SA AD'],
  ['/settings', ALL, 'SA AD'],
  ['/admin-users/roles', ALL, ''],
  ['/admin-users', 'SA AD', 'SA AD'],
  ['/threat-intel', 'SA AD AN', 'SA AD'],
  ['/sso-configs', 'SA AD', 'SA'],
  ['/active-countermeasures', ALL, 'SA AD'],
  ['/signatures', ALL, 'SA AD'],
  ['/clickfix-signatures', ALL, 'SA AD'],
  ['/alert-notifications', 'SA AD AN', 'SA AD'],
  ['/push-rules', 'SA AD AN', 'SA AD'],
  ['/mobile', ALL, ALL],
  ['/on-call/overrides', ALL, 'SA AD AN'],
  ['/on-call/schedules/{scheduleId}/overrides', ALL, 'SA AD AN'],
  ['/on-call', ALL, 'SA AD'],
  ['/extension-monitoring/whitelist', ALL, 'SA AD AN'],
  ['/extension-monitoring', ALL, 'SA AD'],
  ['/screenshots', 'SA AD AN', ''],
  ['/events/stats', ALL, ''],
  ['/events', 'SA AD AN', ''],
  ['/log-destinations', 'SA AD', 'SA AD'],
  ['POST /directory-sources/{sourceID}/syncs/{syncId}/confirm', '', 'SA'],
  ['/scim/clients', 'SA AD', 'SA AD'],
  ['/directory-sources', 'SA AD', 'SA AD'],
  ['/updates', 'SA AD', 'SA'],
  ['/extension-rollouts', 'SA AD', 'SA'],
  ['/integrations/log-destinations', 'SA AD', 'SA AD'],
  ['/certificates', 'SA AD', 'SA'],
  ['/tls', 'SA AD', 'SA'],
  ['/enrollment', 'SA AD', 'SA AD'],
  ['/search/export', 'SA AD AN', ''],
  ['/search', ALL, ''],
  ['/audit-log/export', 'SA AD', ''],
  ['/audit-log', 'SA AD AN', ''],
  ['/groups', ALL, 'SA AD'],
  ['/verification', 'SA AD AN', 'SA AD AN'],
  ['/portal', 'SA AD AN', ''],
];

const fits = (address: string, method: string, path: string): boolean => {
  const [prefix, only] = address.includes(' ') ? [address.split(' ')[1]!, address.split(' ')[0]] : [address, undefined];
  return (only === undefined || only === method) && (path === prefix || path.startsWith(`${prefix}/`));
};

/** Who may use an administrator's route; undefined for a route that the choices do not mention. */
export function rolesOfChoices(method: string, path: string): readonly AdminRole[] | undefined {
  const below = path.replace(/^\/api\/v1\/admin/, '');
  const line = TABLE.find(([address]) => fits(address, method, below));
  return line?.[method === 'GET' ? 1 : 2].split(' ').flatMap((role) => ROLES[role] ?? []);
}
