import { z } from 'zod';

/** Tenant admins (F088). `executive` exists only as a key of the mobile-access map. */
export const adminRoles = ['super_admin', 'admin', 'analyst', 'viewer'] as const;
export const adminRoleSchema = z.enum(adminRoles);
export type AdminRole = (typeof adminRoles)[number];

/** Admins of an organization (OP-143). */
export const orgRoles = ['org_owner', 'org_admin', 'org_viewer'] as const;
export const orgRoleSchema = z.enum(orgRoles);
export type OrgRole = (typeof orgRoles)[number];
