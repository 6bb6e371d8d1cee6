import type { AdminRole, adminRoles } from './roles.ts';

/**
 * The permission table (OP-255 to OP-281): which roles may read and write what. Routes name a permission, guards look
 * it up here, and generated tests check every route and role against it.
 */
const SA: AdminRole = 'super_admin';
const AD: AdminRole = 'admin';
const AN: AdminRole = 'analyst';
const VI: AdminRole = 'viewer';
const everyone = [SA, AD, AN, VI];
const triage = [SA, AD, AN];
const administration = [SA, AD];

const table = {
  'self:read': everyone,
  'self:write': everyone,
  'employees:read': everyone,
  'employees:write': administration,
  'employees:erase': [SA],
  'alerts:read': everyone,
  'alerts:write': triage,
  'endpoints:read': everyone,
  'endpoints:write': triage,
  'devices:read': everyone,
  'devices:write': administration,
  'devices:silence': triage,
  'overview:read': everyone,
  'support-bundle:read': [SA],
  'policies:read': everyone,
  'policies:test': triage,
  'policies:write': administration,
  'unblock-keys:read': triage,
  'unblock-keys:write': triage,
  'settings:read': everyone,
  'settings:write': administration,
  'base-url:write': [SA],
  'license:read': administration,
  'license:write': [SA],
  'retention:read': everyone,
  'admin-users:read': administration,
  'admin-users:write': administration,
  'roles:read': everyone,
  'threat-intel:read': triage,
  'threat-intel:write': administration,
  'sso-configs:read': administration,
  'sso-configs:write': [SA],
  'countermeasures:read': everyone,
  'countermeasures:write': administration,
  'signatures:read': everyone,
  'signatures:write': administration,
  'notifications:read': triage,
  'notifications:write': administration,
  'on-call:read': everyone,
  'on-call:override': triage,
  'on-call:write': administration,
  'extension-monitoring:read': everyone,
  'extension-monitoring:whitelist': triage,
  'extension-monitoring:write': administration,
  'screenshots:read': triage,
  'events:read': triage,
  'events-stats:read': everyone,
  'integrations:read': administration,
  'integrations:write': administration,
  'directory-sources:read': administration,
  'directory-sources:write': administration,
  'directory-sources:confirm': [SA],
  'scim-clients:read': administration,
  'scim-clients:write': administration,
  'updates:read': administration,
  'updates:write': [SA],
  'certificates:read': administration,
  'certificates:write': [SA],
  'enrollment:read': administration,
  'enrollment:write': administration,
  'search:read': everyone,
  'search:export': triage,
  'audit:read': triage,
  'audit:export': administration,
  'groups:read': everyone,
  'groups:write': administration,
  'verification:read': triage,
  'verification:write': triage,
  'portal:read': triage,
} as const satisfies Record<string, readonly AdminRole[]>;

export type Permission = keyof typeof table;

declare module '../../../platform/resources/access-words.ts' {
  interface AccessWords {
    readonly permission: keyof typeof table;
    readonly role: (typeof adminRoles)[number];
  }
}

export const permissionTable: Readonly<Record<Permission, readonly AdminRole[]>> = table;

export const permits = (role: AdminRole, permission: Permission): boolean => permissionTable[permission].includes(role);

export const permissionsOf = (role: AdminRole): Permission[] =>
  (Object.keys(permissionTable) as Permission[]).filter((permission) => permits(role, permission));
