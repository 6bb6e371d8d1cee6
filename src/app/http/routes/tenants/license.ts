import { z } from 'zod';
import { installLicense } from '../../../../../commands/tenants/install-license.ts';
import { licenseUsage, licenseView } from '../../../../../queries/tenants/license-usage.ts';
import type { WithLicensePublicKey } from '../../../../../commands/ports.ts';
import { readLicense } from '../../../../contexts/tenants/domain/license.ts';
import type { FieldError } from '../../../../platform/kernel/failure.ts';
import { adminEvenUnlicensed } from '../../access.ts';
import { textAt } from '../../plain-addresses.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface LicenseRouteDependencies {
  readonly ports: WithLicensePublicKey;
}

const route = routeWith<LicenseRouteDependencies>();

/** For `foresee`: a key that the command would refuse. */
export function foreseeLicense(body: unknown, { ports }: LicenseRouteDependencies): readonly FieldError[] {
  const key = textAt(body, 'licenseKey');
  const license = key === undefined ? undefined : readLicense(key, ports.licensePublicKey, Date.now());
  return license && 'refused' in license ? [{ field: 'licenseKey', message: license.refused }] : [];
}

const path = '/api/v1/admin/settings/license';

export const licenseRoutes: RouteGroup<LicenseRouteDependencies> = {
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
      foresee: foreseeLicense,
      response: licenseView,
      handle: async ({ run, ask, body }) => {
        await run(installLicense, body);
        return ask(licenseUsage, { now: Date.now() });
      },
    }),
  ],
};
