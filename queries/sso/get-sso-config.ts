import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import {
  SELECT_SSO_CONFIGS,
  toSsoConfigView,
  type SsoConfigView,
  type SsoConfigWithAddress,
} from './sso-config-view.ts';

const SQL = `${SELECT_SSO_CONFIGS} where c.tenant_id = $1 and c.config_id = $2`;

export const getSsoConfig: Query<{ configId: string }, SsoConfigView> = async (reads, { configId }) => {
  const row = await reads.one<SsoConfigWithAddress>(SQL, [configId]);
  return row ? toSsoConfigView(row) : notFound();
};
