/** Who caused an event. `id` is the UUID of the admin, device or client; `system` acts for the house itself. */
export interface Actor {
  readonly kind: 'admin' | 'org_admin' | 'scim' | 'device' | 'system';
  readonly id: string | null;
  readonly ip?: string;
  readonly userAgent?: string;
}

/** The house itself, acting under a name: `system('alert-detection')`. */
export const system = (name: string): Actor => ({ kind: 'system', id: null, userAgent: name });
