import { z } from 'zod';
import {
  logDestinationSettingsView,
  type LogDestinationSettings,
} from '../../../../../queries/log-destinations/log-destination-view.ts';
import type { DestinationSinks } from '../../../../contexts/log-destinations/forwarding/destination-sinks.ts';
import { webAddressField } from '../../../../contexts/log-destinations/domain/whole-config.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import { NOTHING_FORWARDED, type ForwardingState } from '../../../../contexts/log-destinations/forwarding-states.ts';
import { destinationStatuses } from '../../../../contexts/log-destinations/domain/vocabulary.ts';

const backfillView = z.object({
  id: z.uuid(),
  from: z.iso.datetime(),
  to: z.iso.datetime().nullable(),
  state: z.enum(['sending', 'complete']),
  delivered: z.int().describe('Records that were acknowledged'),
  lastError: z.string().nullable(),
});

/** OP-203. */
export const logDestinationView = logDestinationSettingsView
  .extend({
    status: z.enum(destinationStatuses),
    lastDeliveryAt: z.iso.datetime().nullable(),
    lastError: z.string().nullable(),
    lagEvents: z.int().describe('Events that wait to be sent'),
    lagSeconds: z.int().describe('Seconds since the oldest waiting event was recorded'),
    backfill: backfillView.nullable().describe('The latest request to send events of the past'),
  })
  .meta({ title: 'LogDestination' });
export type LogDestinationView = z.output<typeof logDestinationView>;

/** The settings with the whole address, which events and rows do not hold. Values of headers stay concealed. */
export async function withWholeConfig(
  sinks: Pick<DestinationSinks, 'configOf'>,
  tenantId: TenantId,
  settings: LogDestinationSettings,
): Promise<LogDestinationSettings> {
  const { id, type, config } = settings.shown;
  const field = webAddressField({ type });
  const whole = field && ((await sinks.configOf(tenantId, id)) as Readonly<Record<string, unknown>> | undefined);
  if (!whole) return settings;
  return { ...settings, shown: { ...settings.shown, config: { ...config, [field]: whole[field] } as typeof config } };
}

/** A destination with its progress. */
export function logDestinationResponse(
  { shown, backfill }: LogDestinationSettings,
  states: ReadonlyMap<string, ForwardingState>,
): LogDestinationView {
  const { status, lastDeliveryAt, lastError, lagEvents, lagSeconds } = states.get(shown.id) ?? NOTHING_FORWARDED;
  const past = backfill && (states.get(backfill.id) ?? NOTHING_FORWARDED);
  return {
    ...shown,
    status: shown.isEnabled ? status : 'paused',
    lastDeliveryAt,
    lastError,
    lagEvents,
    lagSeconds,
    backfill: past && {
      ...backfill!,
      state: past.isComplete ? 'complete' : 'sending',
      delivered: past.delivered,
      lastError: past.lastError,
    },
  };
}
