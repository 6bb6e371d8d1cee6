import { z } from 'zod';
import { readVerificationAlert } from '../../../../../commands/verification/read-verification-alert.ts';
import { verifyEmployee } from '../../../../../commands/verification/verify-employee.ts';
import {
  listVerifiableUsers,
  nameOfUser,
  verifiableUserOrder,
  verifiableUserView,
} from '../../../../../queries/verification/verifiable-users.ts';
import {
  getVerificationAlert,
  listVerificationAlerts,
  verificationAlertOrder,
  verificationAlertView,
} from '../../../../../queries/verification/verification-alerts.ts';
import {
  listVerificationEvents,
  verificationEventOrder,
  verificationEventView,
} from '../../../../../queries/verification/list-verification-events.ts';
import { employee, employeeStream, isEmployed } from '../../../../contexts/employees/domain/employee.ts';
import { verificationMethods, type VerificationMethod } from '../../../../contexts/verification/domain/events.ts';
import { FailureError, forbidden, limited, notFound } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, deviceAccess } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { VerificationCodes } from '../../../../contexts/identity/verification-codes.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface VerificationRouteDependencies {
  readonly loader: AggregateLoader;
  readonly ports: { readonly verificationCodes: VerificationCodes };
  readonly lookups: Lookups;
}

const route = routeWith<VerificationRouteDependencies>();

/** Such a device enrolled with the fleet's secret and a user name, which does not prove who its user is. */
const NOT_CONFIRMED = forbidden('device_unconfirmed');

const base = '/api/v1/admin/verification';

/** Both methods have the same interface (OP-234, OP-235). A wrong code is not an error; too many are 429 (OP-236). */
const verify = (path: string, method: VerificationMethod, operation: string, summary: string) =>
  route({
    method: 'POST',
    path: `${base}/${path}/verify`,
    access: admin('verification:write'),
    summary,
    operation,
    description: 'A wrong code returns 200 with `valid: false`. 429 after too many wrong codes.',
    refuses: ['not_found'],
    body: z.object({ userId: uuid(), code: z.string().regex(/^\d{6}$/, 'must have 6 digits') }),
    response: z.object({
      valid: z.boolean(),
      userId: z.uuid(),
      displayName: z.string(),
      method: z.enum(verificationMethods),
      verifiedAt: z.iso.datetime().nullable(),
    }),
    handle: async ({ run, ask, body: { userId, code } }) => {
      const displayName = await ask(nameOfUser, { userId });
      const { result } = await run(verifyEmployee, { userId, method, code });
      if (result.kind === 'limited') throw new FailureError(limited(result.seconds));
      const valid = result.kind === 'valid';
      return { valid, userId, displayName, method, verifiedAt: valid ? result.at : null };
    },
  });

export const verificationRoutes: RouteGroup<VerificationRouteDependencies> = {
  area: 'verification',
  routes: [
    verify('daily-code', 'daily_code', 'verifyDailyCode', "Verify an employee's daily code"),
    verify('otp', 'otp', 'verifyOneTimeCode', "Verify an employee's one-time code"),
    route({
      method: 'GET',
      path: `${base}/users`,
      access: admin('verification:read'),
      summary: 'List employees for verification',
      description: 'With whether they can be verified, and when they last were.',
      query: z.object(keysetQuery(verifiableUserOrder)),
      response: z.object({ users: z.array(verifiableUserView), ...keysetView }),
      handle: async ({ ask, query }) =>
        withNextMark(verifiableUserOrder, await ask(listVerifiableUsers, toPage(query))),
    }),
    route({
      method: 'GET',
      path: `${base}/audit-events`,
      access: admin('verification:read'),
      summary: 'List verifications',
      description: 'Newest first.',
      query: z.object(keysetQuery(verificationEventOrder)),
      response: z.object({ events: z.array(verificationEventView), ...keysetView }),
      handle: async ({ ask, query }) =>
        withNextMark(verificationEventOrder, await ask(listVerificationEvents, toPage(query))),
    }),
    route({
      method: 'GET',
      path: `${base}/alerts`,
      access: admin('verification:read'),
      summary: 'List verification alerts',
      description: 'Raised for an employee after too many wrong codes.',
      query: z.object(keysetQuery(verificationAlertOrder)),
      response: z.object({ alerts: z.array(verificationAlertView), ...keysetView }),
      handle: async ({ ask, query }) =>
        withNextMark(verificationAlertOrder, await ask(listVerificationAlerts, toPage(query))),
    }),
    route({
      method: 'PUT',
      path: `${base}/alerts/{alertID}/read`,
      access: admin('verification:write'),
      summary: 'Mark a verification alert as read',
      params: z.object({ alertID: uuid() }),
      response: verificationAlertView,
      handle: async ({ run, ask, params: { alertID: alertId } }) => {
        const { userId } = await ask(getVerificationAlert, { alertId });
        await run(readVerificationAlert, { alertId, userId });
        return ask(getVerificationAlert, { alertId });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/ext/verification/code',
      access: deviceAccess,
      summary: 'Get the current verification codes',
      refuses: ['device_unconfirmed'],
      description:
        'For the employee of this browser. 403 until an administrator has confirmed a device that enrolled by itself.',
      response: z.object({ dailyCode: z.string(), otp: z.string(), expiresAt: z.iso.datetime() }),
      handle: async ({ principal: { tenantId, userId, deviceId }, services, reply }) => {
        const shownOn = await services.lookups.device(tenantId, deviceId);
        if (!shownOn?.isConfirmed) throw new FailureError(NOT_CONFIRMED);
        const known = await services.loader.load(employee, employeeStream(tenantId, userId));
        if (!isEmployed(known)) throw new FailureError(notFound());
        reply.header('cache-control', 'no-store');
        return services.ports.verificationCodes.current(
          tenantId,
          { userId, deactivations: known.deactivations },
          Date.now(),
        );
      },
    }),
  ],
};
