import { orgSsoConfigs } from '../../projections/organizations/org-sso-configs.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import {
  toOrgSsoConfigView,
  SELECT_ORG_SSO_CONFIGS,
  type OrgSsoConfigView,
  type OrgSsoConfigWithAddress,
} from './org-sso-config-view.ts';

const SQL = `${SELECT_ORG_SSO_CONFIGS} where c.tenant_id = $1 and c.config_id = $2`;

/** Runs in the organization's scope. */
export const getOrgSsoConfig: Query<{ configId: string }, OrgSsoConfigView> = async (reads, { configId }) => {
  const row = await reads.one<OrgSsoConfigWithAddress>(SQL, [configId]);
  return row ? toOrgSsoConfigView(row) : notFound();
};

/** A configuration from the events that created it. The addresses of its views begin with the organization's. */
export function viewOfNewOrgSsoConfig(
  { tenant_id, external_base_url, slug }: Pick<OrgSsoConfigWithAddress, 'tenant_id' | 'external_base_url' | 'slug'>,
  configId: string,
  events: readonly RecordedEvent[],
): OrgSsoConfigView | undefined {
  const row = newRow(orgSsoConfigs, { config_id: configId }, events);
  return row && toOrgSsoConfigView({ ...row, tenant_id, external_base_url, slug });
}

/** Of the organization of the current scope. */
export const organizationAddress: Query<
  undefined,
  Pick<OrgSsoConfigWithAddress, 'external_base_url' | 'slug'>
> = async (reads) =>
  (await reads.one('select external_base_url, slug from organizations where tenant_id = $1')) ?? notFound();
