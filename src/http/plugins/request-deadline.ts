import type { FastifyInstance } from 'fastify';
import { withRequestDeadline } from '../../eventstore/request-deadline.ts';

/** As long as a statement of the database may take (decision 0017). */
const REQUEST_MS = 10_000;
/** Of a request that makes one change after another: each makes progress, and together they take a while. */
const BULK_MS = 120_000;

/** From here on all calls to the event store that a request leads to share one deadline (decision 0048). */
export function shareDeadlines(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    withRequestDeadline(request.routeOptions.config?.declared?.isBulk ? BULK_MS : REQUEST_MS, done);
  });
}
