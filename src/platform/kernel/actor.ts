/** Who caused an event. `id` is the UUID of the admin, device or client; `system` is the application itself. */
export interface Actor {
  readonly kind: 'admin' | 'org_admin' | 'scim' | 'device' | 'system';
  readonly id: string | null;
  readonly ip?: string;
  readonly userAgent?: string;
}

/** The application itself, acting under a name: `system('alert-detection')`. */
export const system = (name: string): Actor => ({ kind: 'system', id: null, userAgent: name });
