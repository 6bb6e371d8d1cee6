import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import {
  orgAdminAccountClaim,
  organization,
  organizationSlugClaim,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest, WithClaimHolders, WithPasswords, WithVault } from '../ports.ts';
import { freeSlug } from '../tenants/free-slug.ts';
import { slugOf } from '../tenants/set-up-tenant.ts';

/** Issued for the organization that is to be: its id is the `tenantId` of the command. */
export interface CreateOrganization {
  readonly name: string;
  /** Null: made from the name. A number is put behind one that is taken. */
  readonly slug: string | null;
  readonly externalBaseUrl: string;
  readonly adminId: string;
  readonly ownerEmail: string;
  readonly ownerDisplayName: string;
  /** Whoever makes the organization sees it too: the owner has to choose another at the first sign-in. */
  readonly ownerPassword: string;
}

interface Facts {
  readonly slug: string;
  readonly accountDigest: string;
  readonly passwordRef: string;
}

type Ports = WithVault & WithPasswords & WithAccountDigest & WithClaimHolders;

/** An organization with its first owner, in one append: neither is ever seen without the other. Answers the slug it got. */
export const createOrganization = defineCommand({
  name: 'CreateOrganization',
  aggregate: organization,
  stream: (_input: CreateOrganization, { tenantId }) => organizationStream(tenantId),
  async prepare({ name, slug, adminId, ownerEmail, ownerPassword }: CreateOrganization, ports: Ports, { tenantId }) {
    const hash = await ports.passwords.hash(ownerPassword);
    const facts: Facts = {
      slug: await freeSlug(slugOf(slug ?? name), organizationSlugClaim, ports),
      accountDigest: ports.accountDigest(ownerEmail),
      passwordRef: await ports.vault.put(tenantId, orgPasswordLocation(adminId), hash),
    };
    return facts;
  },
  decide(state, input, { now }, { slug, accountDigest, passwordRef }: Facts) {
    if (state.exists) return conflict();
    const { name, externalBaseUrl, adminId, ownerEmail: email, ownerDisplayName: displayName } = input;
    return acceptWith(
      { slug },
      [
        { type: 'OrganizationCreated', data: { name, slug, externalBaseUrl } },
        {
          type: 'OrgAdminCreated',
          data: {
            adminId,
            email,
            accountDigest,
            displayName,
            role: 'org_owner',
            passwordRef,
            mustChangePassword: true,
            passwordExpiresAt: temporaryPasswordExpiry(now),
          },
        },
      ],
      { claim: [organizationSlugClaim(slug), orgAdminAccountClaim(accountDigest)] },
    );
  },
  whenClaimed: ({ kind }) =>
    kind === 'organization-slug' ? 'prepareAgain' : conflict('the e-mail administers another organization'),
  freshens: ['organizations', 'organization_directory', 'org_admins'],
});
