import { z } from 'zod';
import { createLogDestination } from '../../../../../commands/log-destinations/create-log-destination.ts';
import { deleteLogDestination } from '../../../../../commands/log-destinations/delete-log-destination.ts';
import { updateLogDestination } from '../../../../../commands/log-destinations/update-log-destination.ts';
import {
  getLogDestination,
  listLogDestinations,
  viewOfNewLogDestination,
} from '../../../../../queries/log-destinations/log-destination-view.ts';
import { refuseUnlessOwnerOfPrivate } from '../../../../contexts/admins/domain/private-destinations.ts';
import { forwardingStates } from '../../../../contexts/log-destinations/forwarding-states.ts';
import { MAX_DESTINATIONS, type DestinationConfig } from '../../../../contexts/log-destinations/domain/config.ts';
import type { DestinationSinks } from '../../../../contexts/log-destinations/forwarding/destination-sinks.ts';
import { sendTestRecord } from '../../../../contexts/log-destinations/test-delivery.ts';
import type { Database } from '../../../../platform/database/database.ts';
import { FailureError, notFound, orThrow } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import type { Config } from '../../../config/config.ts';
import { admin, adminReauthenticated, adminReauthenticatedWhere } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import {
  logDestinationChanges,
  logDestinationDraft,
  logDestinationUpdate,
  newLogDestination,
  judgeNewDestination,
  refuseInsecureDestination,
} from './log-destination-bodies.ts';
import { logDestinationResponse, logDestinationView, withWholeConfig } from './log-destination-response.ts';

export interface LogDestinationsRouteDependencies {
  readonly config: Pick<Config, 'devMode'>;
  readonly database: Pick<Database, 'service'>;
  readonly destinationSinks: DestinationSinks;
}

const route = routeWith<LogDestinationsRouteDependencies>();

export const logDestinationsBase = '/api/v1/admin/integrations/log-destinations';
const base = logDestinationsBase;
const one = { path: `${base}/{destID}`, params: z.object({ destID: uuid() }) };

/** OP-203 to OP-206. */
export const logDestinationRoutes: RouteGroup<LogDestinationsRouteDependencies> = {
  area: 'log-destinations',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('integrations:read'),
      summary: 'List log destinations',
      operation: 'listLogDestinations',
      description: 'All of them, newest first, each with its progress; without credentials.',
      response: z.object({ destinations: z.array(logDestinationView), total: z.int() }),
      handle: async ({ ask, services, principal }) => {
        const [listed, states] = await Promise.all([
          ask(listLogDestinations, undefined),
          forwardingStates(services.database.service, principal.tenantId),
        ]);
        const whole = await Promise.all(
          listed.map((one) => withWholeConfig(services.destinationSinks, principal.tenantId, one)),
        );
        return { destinations: whole.map((one) => logDestinationResponse(one, states)), total: listed.length };
      },
    }),
    route({
      method: 'POST',
      path: base,
      access: adminReauthenticated('integrations:write'),
      summary: 'Add a log destination',
      operation: 'addLogDestination',
      description: `Forwards events from now on. The credential in \`config\` and the values of \`headers\` are stored in the vault and never shown. Without \`format\`: rfc5424 for syslog, otherwise json. Only a super admin may set \`allowPrivateNetwork\`. A tenant may have ${MAX_DESTINATIONS} destinations (409).`,
      refuses: ['limit_reached'],
      body: newLogDestination,
      judge: judgeNewDestination,
      status: 201,
      response: logDestinationView,
      handle: async ({ body, services, principal, fresh, run, created }) => {
        const destinationId = fresh.id('log destination');
        const draft = logDestinationDraft(body, destinationId);
        const reach = { ...draft.destination, address: draft.destination.config };
        orThrow(refuseUnlessOwnerOfPrivate(undefined, reach, principal.role === 'super_admin'));
        const executed = await run(createLogDestination, draft);
        const settings = await created(executed, getLogDestination, { destinationId }, (events) =>
          viewOfNewLogDestination(destinationId, events),
        );
        const whole = await withWholeConfig(services.destinationSinks, principal.tenantId, settings);
        return logDestinationResponse(whole, new Map());
      },
    }),
    route({
      ...one,
      method: 'GET',
      access: admin('integrations:read'),
      summary: 'Get a log destination',
      operation: 'getLogDestination',
      response: logDestinationView,
      handle: async ({ ask, services, principal, params }) =>
        logDestinationResponse(
          await withWholeConfig(
            services.destinationSinks,
            principal.tenantId,
            await ask(getLogDestination, { destinationId: params.destID }),
          ),
          await forwardingStates(services.database.service, principal.tenantId),
        ),
    }),
    route({
      ...one,
      method: 'PUT',
      access: adminReauthenticatedWhere(
        'integrations:write',
        'an address, a header, a credential, `protocol`, `region`, `bucket`, `caCertificate` or `allowPrivateNetwork` changes, or if the destination no longer gets alerts or audit entries',
      ),
      summary: 'Change a log destination',
      refuses: ['secret_required_again'],
      operation: 'updateLogDestination',
      description:
        'Fields that are left out keep their values, the credential included. A new address requires the credential again, or null, and all values of `headers` (400). A header with the value `[concealed]` keeps its stored value. While `allowPrivateNetwork` is set, only a super admin may change it. The type cannot be changed. A disabled destination keeps its place in the log and goes on from there.',
      body: logDestinationChanges,
      response: logDestinationView,
      handle: async ({ ask, run, body, services, principal, params }) => {
        const destinationId = params.destID;
        const { shown } = await ask(getLogDestination, { destinationId });
        const update = logDestinationUpdate(body, shown.type, destinationId);
        const wanted = { ...shown.config, ...update.config, type: shown.type };
        refuseInsecureDestination(services.config, wanted as unknown as DestinationConfig);
        const { reauthenticated, role } = principal;
        await run(updateLogDestination, { ...update, reauthenticated, isSuperAdmin: role === 'super_admin' });
        return logDestinationResponse(
          await withWholeConfig(
            services.destinationSinks,
            principal.tenantId,
            await ask(getLogDestination, { destinationId }),
          ),
          await forwardingStates(services.database.service, principal.tenantId),
        );
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      access: adminReauthenticated('integrations:write'),
      summary: 'Remove a log destination',
      operation: 'deleteLogDestination',
      description: 'Its place in the log and its list of refused records go with it. Raises an alert.',
      handle: async ({ run, params }) => {
        await run(deleteLogDestination, { destinationId: params.destID });
      },
    }),
    route({
      ...one,
      path: `${one.path}/test`,
      method: 'POST',
      access: admin('integrations:write'),
      summary: 'Test a log destination',
      operation: 'testLogDestination',
      description:
        'Sends one record with the stored credential. 200 also if that fails; `latencyMs` is in milliseconds.',
      response: z.object({ success: z.boolean(), message: z.string(), latencyMs: z.int() }),
      handle: async ({ services, principal, params }) => {
        const result = await sendTestRecord(services.destinationSinks, principal.tenantId, params.destID);
        if (!result) throw new FailureError(notFound());
        return result;
      },
    }),
  ],
};
