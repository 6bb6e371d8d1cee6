import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  orgAdminAccountClaim,
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { alreadyExists, conflict, notFound } from '../../src/platform/kernel/failure.ts';
import {
  createdAccount,
  prepareAdminAccount,
  type NewAdminAccount,
  type NewAdminFacts,
} from '../identity/new-admin-account.ts';
import type { WithAccountDigest, WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface CreateOrgAdmin extends NewAdminAccount {
  readonly role: OrgRole;
}

type Ports = WithAggregates & WithVault & WithPasswords & WithAccountDigest;

/** More than any team needs; they are all kept in the state of the organization. */
const MAX_ADMINS = 500;

export const createOrgAdmin = defineCommand({
  name: 'CreateOrgAdmin',
  aggregate: organization,
  stream: (_input: CreateOrgAdmin, { tenantId }) => organizationStream(tenantId),
  async prepare(input: CreateOrgAdmin, ports: Ports, { tenantId }) {
    const { name: ownerName } = await ports.aggregates.load(organization, organizationStream(tenantId));
    return prepareAdminAccount(ports, input, { tenantId, place: orgPasswordLocation(input.adminId), ownerName });
  },
  decide(state, input, { now }, facts: NewAdminFacts) {
    if (!state.exists) return notFound();
    if (state.admins.has(input.adminId)) return conflict();
    if (state.admins.size >= MAX_ADMINS) return conflict('limit_reached', `at most ${MAX_ADMINS} admins`);
    const data = { ...createdAccount(input, facts, now), role: input.role };
    return acceptWith({ passwordExpiresAt: data.passwordExpiresAt }, [{ type: 'OrgAdminCreated', data }], {
      claim: [orgAdminAccountClaim(data.accountDigest)],
    });
  },
  // The text does not say which organization: that is another customer's business.
  whenClaimed: () => alreadyExists('email'),
  recall: (_before, [created]) => ({
    passwordExpiresAt: (created as Extract<OrganizationEvent, { type: 'OrgAdminCreated' }>).data.passwordExpiresAt,
  }),
  freshens: ['org_admins'],
});
