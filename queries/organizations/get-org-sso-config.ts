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
