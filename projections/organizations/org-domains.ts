import type { DomainProof } from '../../src/contexts/organizations/domain/domains.ts';
import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import {
  at,
  defineReadModel,
  id,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = { domain: text, organization_id: id, proof: text as Column<DomainProof>, verified_at: timestamp };
export type OrgDomainRow = Row<{ columns: typeof columns }>;

/** Domains that organizations have proved. Before a sign-in, they route an e-mail to its organization's provider. */
export const orgDomains = defineReadModel({
  name: 'org_domains',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns,
  key: ['domain'],
  families: [organizationEvents],
  on: {
    OrgDomainVerified: (event) => ({
      key: { domain: event.data.domain },
      fold: () => ({
        domain: event.data.domain,
        organization_id: event.tenantId,
        proof: event.data.proof,
        verified_at: at(event),
      }),
    }),
    OrgDomainRemoved: (event) => ({
      key: { domain: event.data.domain },
      fold: (row) => (row?.organization_id === event.tenantId ? undefined : row),
    }),
  },
});
