import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { AlertDocument } from '../alert-document.ts';

/** An event of an alert that calls people. */
export interface CallingEvent {
  readonly tenantId: TenantId;
  readonly eventId: string;
  readonly change: 'created' | 'updated';
  readonly occurredAt: string;
  readonly alert: AlertDocument;
}
