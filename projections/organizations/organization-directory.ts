import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import { defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { id, name: text, slug: text, external_base_url: text };
export type OrganizationDirectoryRow = Row<{ columns: typeof columns }>;

/** The installation's organizations, to resolve an address or a slug. */
export const organizationDirectory = defineReadModel({
  name: 'organization_directory',
  version: 1,
  lane: 'main',
  scope: 'installation',
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
      }),
    }),
    OrganizationBaseUrlChanged: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => row && { ...row, external_base_url: event.data.externalBaseUrl },
    }),
  },
});
