import type { Enrolled } from '../faults/harness/browser.ts';

/** One of two tenants of a service: its address, its super admin, and a browser of an employee. */
export interface Party {
  readonly url: string;
  readonly tlsUrl: string;
  readonly tenantId: string;
  readonly email: string;
  readonly password: string;
  /** The super admin's session. */
  readonly headers: Readonly<Record<string, string>>;
  readonly browser: Enrolled;
}
