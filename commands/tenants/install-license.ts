import { readLicense } from '../../src/contexts/tenants/domain/license.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound } from '../../src/platform/kernel/failure.ts';
import type { WithLicensePublicKey } from '../ports.ts';

interface InstallLicense {
  readonly licenseKey: string;
}

/** A forged or expired key is invalid input (OP-051). A valid license is in effect when the response is sent. */
export const installLicense = defineCommand({
  name: 'InstallLicense',
  aggregate: tenant,
  stream: (_input: InstallLicense, { tenantId }) => tenantStream(tenantId),
  prepare: async ({ licenseKey }: InstallLicense, { licensePublicKey }: WithLicensePublicKey, { now }) => {
    const license = readLicense(licenseKey, licensePublicKey, now);
    return 'refused' in license ? invalid('licenseKey', license.refused) : { license };
  },
  decide: (state, _input, _context, { license }) =>
    state.exists ? accept([{ type: 'LicenseInstalled', data: license }]) : notFound(),
  freshens: ['tenants', 'live-state'],
});
