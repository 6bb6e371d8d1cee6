import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import { at, defineReadModel, flag, id, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  id,
  name: text,
  slug: text,
  external_base_url: text,
  require_sso: flag,
  created_at: timestamp,
};
export type OrganizationRow = Row<{ columns: typeof columns }>;

/** An organization as its own admins see it: one row. */
export const organizations = defineReadModel({
  name: 'organizations',
  version: 1,
  lane: 'main',
  columns,
  key: ['id'],
  families: [organizationEvents],
  on: {
    OrganizationCreated: (event) => ({
      key: { id: event.tenantId },
      fold: () => ({
        id: event.tenantId,
        name: event.data.name,
        slug: event.data.slug,
        external_base_url: event.data.externalBaseUrl,
        require_sso: false,
        created_at: at(event),
      }),
    }),
    OrganizationBaseUrlChanged: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => row && { ...row, external_base_url: event.data.externalBaseUrl },
    }),
    OrgSsoRequirementSet: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => row && { ...row, require_sso: event.data.requireSso },
    }),
  },
});
