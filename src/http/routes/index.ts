import type { RouteGroup } from '../route.ts';
import { alertRoutes } from './alerts.ts';
import { auditLogRoutes } from './audit-log.ts';
import { authRoutes } from './auth.ts';
import { autoEnrollmentRoutes } from './auto-enrollment.ts';
import { certificateRoutes } from './certificates.ts';
import { deviceRoutes } from './devices.ts';
import { employeeRoutes } from './employees.ts';
import { enrollRoutes } from './enroll.ts';
import { enrollmentRoutes } from './enrollment.ts';
import { licenseRoutes } from './license.ts';
import { loginPageRoutes } from './login-page.ts';
import { meRoutes } from './me.ts';
import { opsRoutes } from './ops.ts';
import { policyRoutes } from './policies.ts';
import { resourceRoutes } from './resources.ts';
import { settingsRoutes } from './settings.ts';
import { organizationRoutes } from './organization.ts';
import { setupRoutes } from './setup.ts';
import { credentialRoutes } from './credentials.ts';
import { eventRoutes } from './events.ts';
import { extRoutes } from './ext.ts';

/** Every route that the service has, in the order of the interface. */
export const routeGroups: readonly RouteGroup[] = [
  setupRoutes,
  authRoutes,
  meRoutes,
  employeeRoutes,
  credentialRoutes,
  alertRoutes,
  deviceRoutes,
  enrollmentRoutes,
  certificateRoutes,
  enrollRoutes,
  autoEnrollmentRoutes,
  licenseRoutes,
  policyRoutes,
  settingsRoutes,
  ...resourceRoutes,
  organizationRoutes,
  eventRoutes,
  extRoutes,
  auditLogRoutes,
  loginPageRoutes,
  opsRoutes,
];
