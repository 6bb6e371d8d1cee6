import type { OrganizationRow } from '../../projections/organizations/organizations.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import {
  toOrgSsoConfigView,
  SELECT_ORG_SSO_CONFIGS,
  type OrgSsoConfigView,
  type OrgSsoConfigWithAddress,
} from './org-sso-config-view.ts';

export interface OrgSsoConfigList {
  readonly configs: readonly OrgSsoConfigView[];
  readonly total: number;
  readonly requireSso: boolean;
}

const CONFIGS = `${SELECT_ORG_SSO_CONFIGS} where c.tenant_id = $1 order by c.created_at desc, c.config_id`;
const ORGANIZATION = 'select require_sso from organizations where tenant_id = $1';

/**
 * Runs in the organization's scope: all its configurations, newest first, and whether single sign-on is required
 * (OP-142).
 */
export const listOrgSsoConfigs: Query<void, OrgSsoConfigList> = async (reads) => {
  const [rows, organization] = await Promise.all([
    reads.rows<OrgSsoConfigWithAddress>(CONFIGS),
    reads.one<Pick<OrganizationRow, 'require_sso'>>(ORGANIZATION),
  ]);
  if (!organization) return notFound();
  return { configs: rows.map(toOrgSsoConfigView), total: rows.length, requireSso: organization.require_sso };
};
