import { z } from 'zod';
import { requestLogBackfill } from '../../../../../commands/log-destinations/request-log-backfill.ts';
import { getLogDestination } from '../../../../../queries/log-destinations/log-destination-view.ts';
import { recordTypes } from '../../../../contexts/log-destinations/domain/vocabulary.ts';
import { MAX_REFUSED } from '../../../../contexts/log-destinations/forwarding/forwarding-checkpoints.ts';
import { RETRIED_AT_ONCE, type RefusedRecords } from '../../../../contexts/log-destinations/refused-records.ts';
import { SinkFailed } from '../../../../contexts/log-destinations/sinks/sink.ts';
import { FailureError, notFound, unavailable } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { pageQuery } from '../../list-query.ts';
import { instantField } from '../../list-query.ts';
import { foreseeFuture } from '../../present-time.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { logDestinationsBase } from './log-destinations.ts';

export interface LogRedeliveryRouteDependencies {
  readonly refusedRecords: RefusedRecords;
}

const route = routeWith<LogRedeliveryRouteDependencies>();

const one = { path: `${logDestinationsBase}/{destID}`, params: z.object({ destID: uuid() }) };
const refused = `${one.path}/refused`;
const recordIds = z
  .array(uuid())
  .min(1)
  .max(RETRIED_AT_ONCE)
  .overwrite((ids) => [...new Set(ids)]);

/** What is sent once more: a range of the past, and records that the destination refused (OP-477, OP-478). */
export const logRedeliveryRoutes: RouteGroup<LogRedeliveryRouteDependencies> = {
  area: 'log-destinations',
  routes: [
    route({
      ...one,
      path: `${one.path}/backfill`,
      method: 'POST',
      access: adminReauthenticated('integrations:write'),
      summary: 'Send past events to a log destination',
      operation: 'backfillLogDestination',
      description:
        'Sends the events that were recorded from `from` to `to` (by default until now), in order, beside the live stream. Telemetry that has expired is not sent. A new request takes the place of one that is under way. `backfill` of the destination shows the progress.',
      body: z
        .object({ from: instantField, to: instantField.nullish() })
        .check(
          ruleBetween(['to', 'from'], ({ from, to = null }) =>
            to === null || to >= from ? undefined : 'must not be before from',
          ),
        ),
      foresee: foreseeFuture('from'),
      status: 202,
      response: z.object({ backfillId: z.uuid() }),
      handle: async ({ run, body, params }) => {
        const input = { destinationId: params.destID, from: body.from, to: body.to ?? null };
        const { result } = await run(requestLogBackfill, input);
        return { backfillId: result.backfillId };
      },
    }),
    route({
      ...one,
      path: refused,
      method: 'GET',
      access: admin('integrations:read'),
      summary: 'List records that a log destination refused',
      operation: 'listRefusedLogRecords',
      description: `Newest first, with the reason. They do not stop the stream, as long as there are no more than ${MAX_REFUSED.toLocaleString('en')}.`,
      query: z.object(pageQuery),
      response: z.object({
        records: z.array(
          z.object({
            recordId: z.uuid(),
            type: z.enum(recordTypes),
            reason: z.string(),
            refusedAt: z.iso.datetime(),
          }),
        ),
        total: z.int(),
        page: z.int(),
        page_size: z.int(),
      }),
      handle: async ({ ask, services, principal, query: { page = 1, page_size }, params }) => {
        await ask(getLogDestination, { destinationId: params.destID });
        const window = { limit: page_size, offset: (page - 1) * page_size };
        const { records, total } = await services.refusedRecords.list(principal.tenantId, params.destID, window);
        return { records, total, page, page_size };
      },
    }),
    route({
      ...one,
      path: `${refused}/retry`,
      method: 'POST',
      access: admin('integrations:write'),
      summary: 'Send refused records again',
      refuses: ['destination_unavailable'],
      operation: 'retryRefusedLogRecords',
      description: `At most ${RETRIED_AT_ONCE} records, as their events read now. Those that the destination takes leave the list; so do \`gone\` ones, whose event has expired. \`unknown\` names ids that are not in the list. 503 if the destination takes none now.`,
      body: z.object({ recordIds }),
      response: z.object({ sent: z.int(), refused: z.int(), gone: z.int(), unknown: z.array(z.uuid()) }),
      handle: async ({ services, principal, body, params }) => {
        try {
          const result = await services.refusedRecords.retry(principal.tenantId, params.destID, body.recordIds);
          if (!result) throw new FailureError(notFound());
          return result;
        } catch (error) {
          if (error instanceof SinkFailed)
            throw new FailureError(unavailable('destination_unavailable', error.message));
          throw error;
        }
      },
    }),
    route({
      ...one,
      path: `${refused}/{recordId}`,
      method: 'DELETE',
      access: admin('integrations:write'),
      summary: 'Remove a record from the refused ones',
      operation: 'deleteRefusedLogRecord',
      description: 'It is not sent.',
      params: z.object({ destID: uuid(), recordId: uuid() }),
      handle: async ({ services, principal, params: { destID, recordId } }) => {
        const removed = await services.refusedRecords.dismiss(principal.tenantId, destID, [recordId]);
        if (removed === 0) throw new FailureError(notFound());
      },
    }),
  ],
};
