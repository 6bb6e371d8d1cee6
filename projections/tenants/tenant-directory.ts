import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { parsedUrl } from '../../src/platform/kernel/parsed-url.ts';
import { defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';

/** `host`: of the base URL, as `URL` spells it: in lower case, without a port that the scheme implies. */
const columns = { id, name: text, slug: text, external_base_url: text, host: text };
export type ListedTenant = Pick<Row<{ columns: typeof columns }>, 'id' | 'name' | 'slug'>;

const reachedAt = (externalBaseUrl: string) => ({
  external_base_url: externalBaseUrl,
  host: parsedUrl(externalBaseUrl)?.host ?? '',
});

/** The installation's tenants: for discovery if there is only one, for operators, and by the host of a request. */
export const tenantDirectory = defineReadModel({
  name: 'tenant_directory',
  version: 2,
  lane: 'main',
  scope: 'installation',
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
        ...reachedAt(event.data.externalBaseUrl),
      }),
    }),
    TenantBaseUrlChanged: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => row && { ...row, ...reachedAt(event.data.externalBaseUrl) },
    }),
  },
});
