import { z } from 'zod';
import {
  credentialOrder,
  employeeCredentials,
  credentialView,
} from '../../../../../queries/credentials/employee-credentials.ts';
import {
  employeeCredentialStats,
  employeeCredentialStatsView,
} from '../../../../../queries/credentials/employee-credential-stats.ts';
import {
  employeeReuseRecords,
  reuseOrder,
  reuseRecordView,
} from '../../../../../queries/credentials/employee-reuse-records.ts';
import {
  tenantCredentialStats,
  tenantCredentialStatsView,
} from '../../../../../queries/credentials/tenant-credential-stats.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/users/{userID}/credentials';
const params = z.object({ userID: uuid() });

/** Telemetry about passwords; never the passwords themselves (fact F130). */
export const credentialRoutes: RouteGroup = {
  area: 'employees',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('employees:read'),
      summary: 'List the accounts for which an employee entered a password',
      description: 'Latest first. An account that is used while you read by cursor moves to the front.',
      params,
      query: z.object(keysetQuery(credentialOrder)),
      response: z.object({ credentials: z.array(credentialView), ...keysetView }),
      handle: async ({ ask, params: { userID: userId }, query }) =>
        withNextMark(credentialOrder, await ask(employeeCredentials, { userId, ...toPage(query) })),
    }),
    route({
      method: 'GET',
      path: `${base}/stats`,
      access: admin('employees:read'),
      summary: "Count an employee's credentials",
      operation: 'countUserCredentials',
      params,
      response: employeeCredentialStatsView,
      handle: ({ ask, params: { userID: userId } }) => ask(employeeCredentialStats, { userId }),
    }),
    route({
      method: 'GET',
      path: `${base}/reuse-records`,
      access: admin('employees:read'),
      summary: 'List passwords that an employee reuses',
      description:
        'Passwords used on more than one site; never the passwords themselves. Latest first. One that is used while you read by cursor moves to the front.',
      params,
      query: z.object(keysetQuery(reuseOrder)),
      response: z.object({ reuseRecords: z.array(reuseRecordView), ...keysetView }),
      handle: async ({ ask, params: { userID: userId }, query }) =>
        withNextMark(reuseOrder, await ask(employeeReuseRecords, { userId, ...toPage(query) })),
    }),
    route({
      method: 'GET',
      path: '/api/v1/admin/credential-stats',
      access: admin('overview:read'),
      summary: "Count the tenant's credentials",
      operation: 'countCredentials',
      response: tenantCredentialStatsView,
      handle: ({ ask }) => ask(tenantCredentialStats, undefined),
    }),
  ],
};
