import { v5 } from 'uuid';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { recipientKey, type Recipient } from './message.ts';

/** UUIDv5 namespaces (RFC 9562 §5.5): an effect that runs twice names the same delivery. */
const DELIVERIES = '5a1f6f0e-3f0b-4b8c-8b0a-2f6f7d1c9e51';
const NOTIFICATIONS = '93f7b2a5-6d0c-4f17-9f4d-7c1a2e8b6c34';
const RECIPIENTS = 'd84c1a77-0f52-4c19-8c6b-51f0c3d9a2e8';

/** One message about one cause (an event, a page, a window) to one recipient. */
export const deliveryIdOf = (tenantId: TenantId, cause: string, recipient: Recipient): string =>
  v5(`${tenantId}|${cause}|${recipientKey(recipient)}`, DELIVERIES);

/** The plan of deliveries of a channel about one cause. Many recipients are planned in batches, counted from 0. */
export const notificationIdOf = (tenantId: TenantId, cause: string, channel: string, batch = 0): string =>
  v5(`${tenantId}|${cause}|${channel}${batch === 0 ? '' : `|${batch}`}`, NOTIFICATIONS);

/** The stream of a recipient's limit. The id does not show the address. */
export const recipientIdOf = (tenantId: TenantId, recipient: Recipient): string =>
  v5(`${tenantId}|${recipientKey(recipient)}`, RECIPIENTS);
