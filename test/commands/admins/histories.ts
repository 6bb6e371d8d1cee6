import type { AdminRole } from '../../../src/contexts/identity/domain/roles.ts';

export const ADA = '44444444-4444-4444-8444-444444444444';
export const BOB = '88888888-8888-4888-8888-888888888888';
export const REF = '55555555-5555-4555-8555-555555555555';

export const setUp = {
  type: 'TenantSetUp' as const,
  data: { name: 'Acme', slug: 'acme', externalBaseUrl: 'https://castellan.example' },
};
export const created = (adminId: string, roleType: AdminRole = 'super_admin') => ({
  type: 'AdminUserCreated' as const,
  data: {
    adminId,
    email: `${adminId}@acme.example`,
    accountDigest: `digest of ${adminId}`,
    displayName: 'Someone',
    roleType,
    passwordRef: REF,
    mustChangePassword: false,
    passwordExpiresAt: null,
  },
});
export const suspended = (adminId: string) => ({ type: 'AdminSuspended' as const, data: { adminId } });
export const deleted = (adminId: string) => ({ type: 'AdminUserDeleted' as const, data: { adminId } });
