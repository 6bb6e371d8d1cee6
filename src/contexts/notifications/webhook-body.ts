import { z } from 'zod';
import { alertDocument } from './alert-document.ts';
import type { OutboundMessage } from './channel.ts';

const envelope = { timestamp: z.iso.datetime(), tenantId: z.uuid() };
const about = z.object({ alert: alertDocument });

/** The bodies of webhooks by type (choice OP-184). `timestamp` is the time of the event, not of the attempt. */
export const webhookBodies = {
  'alert.created': z
    .object({ type: z.literal('alert.created'), ...envelope, data: about })
    .meta({ title: 'AlertCreatedWebhook' }),
  'alert.updated': z
    .object({ type: z.literal('alert.updated'), ...envelope, data: about })
    .meta({ title: 'AlertUpdatedWebhook' }),
  test: z.object({ type: z.literal('test'), ...envelope, data: z.object({}) }).meta({ title: 'TestWebhook' }),
} as const;

/** The raw body, the same at every attempt; undefined for subjects that webhooks do not carry. */
export function webhookBody({ tenantId, subject, alert }: OutboundMessage): string | undefined {
  if (subject.kind === 'test')
    return JSON.stringify({ type: 'test', timestamp: subject.occurredAt, tenantId, data: {} });
  if (subject.kind !== 'alert' || !alert) return undefined;
  const type = `alert.${subject.change}` as const;
  return JSON.stringify({ type, timestamp: subject.occurredAt, tenantId, data: { alert } });
}
