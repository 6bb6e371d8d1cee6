import { z } from 'zod';
import { readVerificationAlert } from '../../../../../commands/verification/read-verification-alert.ts';
import { verifyEmployee } from '../../../../../commands/verification/verify-employee.ts';
import {
  listVerifiableUsers,
  nameOfUser,
  verifiableUserView,
} from '../../../../../queries/verification/verifiable-users.ts';
import {
  getVerificationAlert,
  listVerificationAlerts,
  verificationAlertView,
} from '../../../../../queries/verification/verification-alerts.ts';
import {
  listVerificationEvents,
  verificationEventView,
} from '../../../../../queries/verification/list-verification-events.ts';
import { employee, employeeStream, isEmployed } from '../../../../contexts/employees/domain/employee.ts';
import { verificationMethods, type VerificationMethod } from '../../../../contexts/verification/domain/events.ts';
import { FailureError, forbidden, limited, notFound } from '../../../../platform/kernel/failure.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin, deviceAccess } from '../../access.ts';
import { pageQuery, paginatedView, toPage } from '../../list-query.ts';
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

/** It enrolled with the fleet's secret and a name: that does not prove whose computer it is. */
const NOT_CONFIRMED = forbidden('an administrator has to confirm the enrollment of this device first');

const base = '/api/v1/admin/verification';

/** Both methods ask and answer alike (choices OP-234, OP-235); a wrong code is an answer, too many are 429 (OP-236). */
const verify = (path: string, method: VerificationMethod, summary: string) =>
  route({
    method: 'POST',
    path: `${base}/${path}/verify`,
    access: admin('verification:write'),
    summary,
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
    verify('daily-code', 'daily_code', "Checks an employee's code of the day"),
    verify('otp', 'otp', "Checks an employee's one-time code, which is right once"),
    route({
      method: 'GET',
      path: `${base}/users`,
      access: admin('verification:read'),
      summary: 'Employees, with whether they can be verified and when they last were',
      query: z.object(pageQuery),
      response: z.object({ users: z.array(verifiableUserView), ...paginatedView }),
      handle: ({ ask, query }) => ask(listVerifiableUsers, toPage(query)),
    }),
    route({
      method: 'GET',
      path: `${base}/audit-events`,
      access: admin('verification:read'),
      summary: 'Verifications, newest first',
      query: z.object(pageQuery),
      response: z.object({ events: z.array(verificationEventView), ...paginatedView }),
      handle: ({ ask, query }) => ask(listVerificationEvents, toPage(query)),
    }),
    route({
      method: 'GET',
      path: `${base}/alerts`,
      access: admin('verification:read'),
      summary: 'Employees whose codes were tried too often',
      query: z.object(pageQuery),
      response: z.object({ alerts: z.array(verificationAlertView), ...paginatedView }),
      handle: ({ ask, query }) => ask(listVerificationAlerts, toPage(query)),
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
      summary: 'The codes by which the employee of this browser can be verified now',
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
