import type { Query } from '../../src/platform/kernel/query.ts';
import {
  SELECT_SSO_CONFIGS,
  toSsoConfigView,
  type SsoConfigView,
  type SsoConfigWithAddress,
} from './sso-config-view.ts';

export interface SsoConfigList {
  readonly configs: readonly SsoConfigView[];
  readonly total: number;
}

const SQL = `${SELECT_SSO_CONFIGS} where c.tenant_id = $1 order by c.created_at desc, c.config_id`;

/** All of a tenant's configurations, newest first (OP-002, OP-003). */
export const listSsoConfigs: Query<void, SsoConfigList> = async (reads) => {
  const rows = await reads.rows<SsoConfigWithAddress>(SQL);
  return { configs: rows.map(toSsoConfigView), total: rows.length };
};
