import type { License } from '../../src/contexts/tenants/domain/license.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import {
  at,
  defineReadModel,
  id,
  json,
  nullable,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  id,
  name: text,
  slug: text,
  external_base_url: text,
  license: nullable(json<License>()),
  created_at: timestamp,
};
export type TenantRow = Row<{ columns: typeof columns }>;

/** A tenant as its own admins see it: one row, with its current license. */
export const tenants = defineReadModel({
  name: 'tenants',
  version: 1,
  lane: 'main',
  columns,
  key: ['id'],
  families: [tenantEvents],
  on: {
    TenantSetUp: (event) => ({
      key: { id: event.tenantId },
      fold: () => ({
        id: event.tenantId,
        name: event.data.name,
        slug: event.data.slug,
        external_base_url: event.data.externalBaseUrl,
        license: null,
        created_at: at(event),
      }),
    }),
    TenantBaseUrlChanged: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => row && { ...row, external_base_url: event.data.externalBaseUrl },
    }),
    LicenseInstalled: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => row && { ...row, license: event.data },
    }),
  },
});
