import { ssoConfigsModel } from '../../projections/sso/sso-configs.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
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

/** A configuration from the events that created it. The addresses of its views begin with the tenant's. */
export function viewOfNewSsoConfig(
  { tenant_id, external_base_url }: Pick<SsoConfigWithAddress, 'tenant_id' | 'external_base_url'>,
  configId: string,
  events: readonly RecordedEvent[],
): SsoConfigView | undefined {
  const row = newRow(ssoConfigsModel, { config_id: configId }, events);
  return row && toSsoConfigView({ ...row, tenant_id, external_base_url });
}
