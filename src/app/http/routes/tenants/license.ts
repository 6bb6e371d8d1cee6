import { z } from 'zod';
import { installLicense } from '../../../../../commands/tenants/install-license.ts';
import { licenseUsage, licenseView } from '../../../../../queries/tenants/license-usage.ts';
import { adminEvenUnlicensed } from '../../access.ts';
import { route, type RouteGroup } from '../../route.ts';

const path = '/api/v1/admin/settings/license';

export const licenseRoutes: RouteGroup = {
  area: 'settings',
  routes: [
    route({
      method: 'GET',
      path,
      access: adminEvenUnlicensed('license:read'),
      summary: 'Get the license and its usage',
      response: licenseView,
      handle: ({ ask }) => ask(licenseUsage, { now: Date.now() }),
    }),
    route({
      method: 'PUT',
      path,
      access: adminEvenUnlicensed('license:write'),
      summary: 'Install a license key',
      body: z.object({ licenseKey: z.string().min(3).max(16_384) }),
      response: licenseView,
      handle: async ({ run, ask, body }) => {
        await run(installLicense, body);
        return ask(licenseUsage, { now: Date.now() });
      },
    }),
  ],
};
