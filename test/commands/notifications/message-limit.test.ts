import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { admitMessage, endMessageWindow } from '../../../commands/notifications/admit-message.ts';
import { planNotification } from '../../../commands/notifications/plan-notification.ts';
import { deliveryIdOf } from '../../../src/contexts/notifications/domain/delivery-ids.ts';
import { messageLimitEvents, notificationEvents } from '../../../src/contexts/notifications/domain/events.ts';
import {
  isLimited,
  messageLimit,
  MESSAGE_WINDOW_MS,
  MESSAGES_PER_HOUR,
} from '../../../src/contexts/notifications/domain/message-limit.ts';
import type { MessageSubject } from '../../../src/contexts/notifications/domain/message.ts';
import { whenNotificationPlannedDeliver } from '../../../src/contexts/notifications/reactions/when-notification-planned-deliver.ts';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import type { EventOf } from '../../../src/platform/kernel/event.ts';
import { context, historiesOf, NOW, TENANT } from '../../dsl/given.ts';
import { reactTo } from '../../dsl/reactions.ts';

type LimitEvent = EventOf<typeof messageLimitEvents>;

const recipient = { kind: 'email' as const, address: 'soc@acme.example' };
const idOf = (n: number) => v5(String(n), '6ba7b810-9dad-11d1-80b4-00c04fd430c8');
const alert = (n: number, severity: 'critical' | 'high' | 'low' = 'high'): MessageSubject => ({
  kind: 'alert',
  alertId: idOf(n),
  eventId: idOf(n),
  change: 'created',
  severity,
  occurredAt: new Date(NOW).toISOString(),
});

/** The events of a storm: one message for each offset, in milliseconds. */
function storm(offsets: readonly number[], severity: (n: number) => 'high' | 'low' = () => 'high'): LimitEvent[] {
  const events: LimitEvent[] = [];
  let state = messageLimit.initial;
  offsets.forEach((offset, n) => {
    const input = { channel: 'email' as const, recipient, cause: idOf(n), subject: alert(n, severity(n)) };
    const decision = admitMessage.decide(state, input, context({ now: NOW + offset }), undefined);
    if (isFailure(decision)) throw new Error(decision.message);
    events.push(...decision.events);
    state = decision.events.reduce((folded, event) => messageLimit.fold(folded, event), state);
  });
  return events;
}
const typesOf = (events: readonly LimitEvent[]) => events.map(({ type }) => type);
const { given, recorded } = historiesOf([messageLimitEvents, notificationEvents]);

describe('the limit of messages (OP-457)', () => {
  it('concerns alerts by e-mail and push that are not critical', () => {
    expect(isLimited('email', alert(1))).toBe(true);
    expect(isLimited('push', alert(1, 'low'))).toBe(true);
    expect(isLimited('webhook', alert(1))).toBe(false);
    expect(isLimited('email', alert(1, 'critical'))).toBe(false);
    expect(isLimited('push', { kind: 'test', occurredAt: new Date(NOW).toISOString() })).toBe(false);
  });

  it('admits twenty in an hour, and holds the rest back', () => {
    const events = storm(Array.from({ length: 100 }, (_, n) => n * 1_000));
    expect(typesOf(events).filter((type) => type === 'MessageAdmitted')).toHaveLength(MESSAGES_PER_HOUR);
    expect(typesOf(events).filter((type) => type === 'MessageHeldBack')).toHaveLength(80);
    expect(events.at(-1)?.data).toMatchObject({ held: { critical: 0, high: 80, medium: 0, low: 0 } });
  });

  it('counts a message once, although its effect runs twice', () => {
    const first = storm([0]);
    given(...(first as never[]))
      .when(admitMessage, { channel: 'email', recipient, cause: idOf(0), subject: alert(0) })
      .thenNothing();
  });

  it('ends in one digest, which names the latest alerts and counts all', () => {
    const events = storm(
      Array.from({ length: 100 }, (_, n) => n),
      (n) => (n % 2 ? 'low' : 'high'),
    );
    const state = events.reduce((folded, event) => messageLimit.fold(folded, event), messageLimit.initial);
    const end = (now: number) =>
      endMessageWindow.decide(state, { channel: 'email', recipient }, context({ now }), undefined);
    expect(end(NOW + MESSAGE_WINDOW_MS - 1)).toMatchObject({ events: [] });
    const decision = end(NOW + MESSAGE_WINDOW_MS);
    if (isFailure(decision)) throw new Error(decision.message);
    const [digest] = decision.events;
    expect(digest).toMatchObject({
      type: 'DigestDue',
      data: {
        subject: {
          kind: 'digest',
          from: new Date(NOW).toISOString(),
          heldBack: { critical: 0, high: 40, medium: 0, low: 40 },
          alertIds: Array.from({ length: 50 }, (_, n) => idOf(50 + n)),
        },
      },
    });
    const after = messageLimit.fold(state, digest!);
    expect(
      endMessageWindow.decide(
        after,
        { channel: 'email', recipient },
        context({ now: NOW + MESSAGE_WINDOW_MS }),
        undefined,
      ),
    ).toMatchObject({ events: [] });
  });

  it('sends the digest before the first message of the next hour, if nothing else did', () => {
    const offsets = [...Array.from({ length: 21 }, (_, n) => n), MESSAGE_WINDOW_MS + 1];
    expect(typesOf(storm(offsets)).slice(-3)).toEqual(['MessageHeldBack', 'DigestDue', 'MessageAdmitted']);
  });

  it('plans a delivery for each message, those held back marked with the time of the digest', () => {
    const events = storm(Array.from({ length: 21 }, (_, n) => n));
    const commands = reactTo(
      whenNotificationPlannedDeliver,
      events.map((event, n) => recorded(event, n + 1)),
    );
    expect(commands.map(({ command }) => command.name)).toEqual(Array(21).fill('PlanDelivery'));
    const inputs = commands.map(({ input }) => input as { deliveryId: string; digestDueAt?: string });
    expect(inputs[0]).toMatchObject({ deliveryId: deliveryIdOf(TENANT, idOf(0), recipient), recipient });
    expect(inputs[0]!.digestDueAt).toBeUndefined();
    expect(inputs[20]!.digestDueAt).toBe(new Date(NOW + MESSAGE_WINDOW_MS).toISOString());
  });
});

describe('a notification', () => {
  const message = { channel: 'email' as const, cause: idOf(1), subject: alert(1), recipients: [recipient] };
  const critical = { ...message, subject: alert(1, 'critical') };

  it('is planned once for a cause and channel, and not without recipients', () => {
    const decision = planNotification.decide({ isPlanned: false }, message, context(), undefined);
    if (isFailure(decision)) throw new Error(decision.message);
    expect(decision.events).toHaveLength(1);
    given(...decision.events)
      .when(planNotification, message)
      .thenNothing();
    given()
      .when(planNotification, { ...message, recipients: [] })
      .thenNothing();
  });

  it('goes through the limit, unless it is critical', () => {
    const names = ([message, critical] as const).map((one) => {
      const decision = planNotification.decide({ isPlanned: false }, one, context(), undefined);
      if (isFailure(decision)) throw new Error(decision.message);
      return reactTo(whenNotificationPlannedDeliver, [recorded(decision.events[0]!, 1)]).map(
        ({ command }) => command.name,
      );
    });
    expect(names).toEqual([['AdmitMessage'], ['PlanDelivery']]);
  });
});
