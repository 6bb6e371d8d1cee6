import { z } from 'zod';
import { planDelivery } from '../../../../../commands/notifications/plan-delivery.ts';
import { delivery, deliveryStream } from '../../../../contexts/notifications/domain/delivery.ts';
import type { DeliverySender } from '../../../../contexts/notifications/delivery-sender.ts';
import type { ChannelName, Recipient } from '../../../../contexts/notifications/domain/message.ts';
import type { AggregateReader } from '../../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { FreshValues } from '../../../../platform/execution/fresh-values.ts';
import type { HandlerContext } from '../../route.ts';

export interface TestDeliveryDependencies {
  readonly deliverySender: Pick<DeliverySender, 'attempt'>;
  readonly loader: AggregateReader;
}

/** Choice OP-183. */
export const testDeliveryView = z.object({ success: z.boolean(), message: z.string(), deliveryId: z.uuid() });

interface Caller {
  readonly services: TestDeliveryDependencies;
  readonly principal: { readonly tenantId: TenantId };
  readonly fresh: FreshValues;
  readonly execute: HandlerContext<unknown, unknown, unknown>['execute'];
}

/** Sends a test now, one attempt, and waits for its result. The attempt is on record like every other. */
export async function testDelivery(
  { services, principal: { tenantId }, fresh, execute }: Caller,
  channel: ChannelName,
  recipient: Recipient,
): Promise<z.output<typeof testDeliveryView>> {
  const deliveryId = fresh.id('delivery');
  const subject = { kind: 'test' as const, occurredAt: new Date().toISOString() };
  await execute(planDelivery, { deliveryId, channel, recipient, subject });
  const outcome = await services.deliverySender.attempt(tenantId, deliveryId);
  if (outcome?.kind === 'accepted') return { success: true, message: outcome.response, deliveryId };
  if (outcome) return { success: false, message: outcome.reason, deliveryId };
  // An earlier try of this request made the attempt.
  const { status } = await services.loader.load(delivery, deliveryStream(tenantId, deliveryId));
  return { success: status === 'delivered', message: `the test is ${status}`, deliveryId };
}
