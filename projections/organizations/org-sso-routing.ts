import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import { defineReadModel, id, json, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { config_id: id, organization_id: id, email_domains: json<readonly string[]>() };
export type OrgSsoRoutingRow = Row<{ columns: typeof columns }>;

interface Config {
  readonly configId: string;
  readonly emailDomains: readonly string[];
  readonly isEnabled: boolean;
}

const routed = (organizationId: string, { configId, emailDomains, isEnabled }: Config): OrgSsoRoutingRow | undefined =>
  isEnabled ? { config_id: configId, organization_id: organizationId, email_domains: emailDomains } : undefined;

/**
 * Organizations with an enabled provider, and the e-mail domains it covers. Read before a sign-in, to find the
 * provider.
 */
export const orgSsoRouting = defineReadModel({
  name: 'org_sso_routing',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns,
  key: ['config_id'],
  families: [organizationEvents],
  on: {
    OrgSsoConfigCreated: (event) => ({
      key: { config_id: event.data.configId },
      fold: () => routed(event.tenantId, event.data),
    }),
    OrgSsoConfigUpdated: (event) => ({
      key: { config_id: event.data.configId },
      fold: () => routed(event.tenantId, event.data),
    }),
    OrgSsoConfigDeleted: (event) => ({ key: { config_id: event.data.configId }, fold: () => undefined }),
  },
});
