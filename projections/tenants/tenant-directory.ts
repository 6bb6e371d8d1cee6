import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { id, name: text, slug: text };
export type TenantDirectoryRow = Row<{ columns: typeof columns }>;

/** The installation's tenants: for discovery if there is only one, and for operators. */
export const tenantDirectory = defineReadModel({
  name: 'tenant_directory',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns,
  key: ['id'],
  families: [tenantEvents],
  on: {
    TenantSetUp: (event) => ({
      key: { id: event.tenantId },
      fold: () => ({ id: event.tenantId, name: event.data.name, slug: event.data.slug }),
    }),
  },
});
