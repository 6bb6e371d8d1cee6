import { z } from 'zod';
import { startWebhookReplay } from '../../../../../commands/notifications/start-webhook-replay.ts';
import { countAlertEvents } from '../../../../../queries/notifications/alert-event-history.ts';
import { getNotificationSettings } from '../../../../../queries/notifications/notification-settings-view.ts';
import { replayedTypes, replayedTypeSchema } from '../../../../contexts/notifications/domain/webhook-replay.ts';
import { FailureError, invalid, notConfigured } from '../../../../platform/kernel/failure.ts';
import { admin } from '../../access.ts';
import { instantField } from '../../list-query.ts';
import { textAt } from '../../plain-addresses.ts';
import { foreseeFuture } from '../../present-time.ts';
import { route, type RouteGroup } from '../../route.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

export const webhookReplayRoutes: RouteGroup = {
  area: 'alert-notifications',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/admin/alert-notifications/webhooks/replay',
      access: admin('notifications:write'),
      summary: 'Send history to the webhook again',
      operation: 'replayWebhooks',
      description:
        'Events of alerts from `from` to `to` (by default now), of all `types` by default, in the order of the log, at most 50 a second. Messages have the ids and bodies of the originals, and the header `castellan-replay`. Alerts that the settings exclude now are left out; `events` counts the others. `dryRun` only counts. 409 while another replay is under way; 400 if the webhook is off or not configured.',
      refuses: ['replay_running', 'channel_not_configured'],
      body: z
        .object({
          from: instantField,
          to: instantField.optional(),
          types: z.array(replayedTypeSchema).min(1).max(replayedTypes.length).optional(),
          dryRun: z.boolean().optional(),
        })
        .check(
          ruleBetween(['from', 'to'], ({ from, to }) =>
            to === undefined || from <= to ? undefined : 'must not be after to',
          ),
        ),
      // With `to`, the rule above holds.
      foresee: (body) => (textAt(body, 'to') === undefined ? foreseeFuture('from')(body) : []),
      response: z
        .object({
          /** Null in a dry run. */
          replayId: z.uuid().nullable(),
          from: z.iso.datetime(),
          to: z.iso.datetime(),
          types: z.array(replayedTypeSchema),
          events: z.int(),
        })
        .meta({ title: 'WebhookReplay' }),
      handle: async ({ ask, run, fresh, body }) => {
        const { from, to = new Date().toISOString(), dryRun = false } = body;
        if (from > to) throw new FailureError(invalid('from', 'must not be in the future'));
        const range = { from, to, types: [...new Set(body.types ?? replayedTypes)] };
        const settings = await ask(getNotificationSettings, { now: Date.now() });
        const { minSeverity, alertTypes } = settings;
        const events = await ask(countAlertEvents, { ...range, minSeverity, alertTypes });
        if (dryRun) return { replayId: null, ...range, events };
        const { webhookEnabled, webhookSecretConfigured } = settings;
        const missing = notConfigured({ webhookEnabled: !webhookEnabled, webhookSecret: !webhookSecretConfigured });
        if (missing) throw new FailureError(missing);
        const replayId = fresh.id('webhook replay');
        await run(startWebhookReplay, { replayId, ...range });
        return { replayId, ...range, events };
      },
    }),
  ],
};
