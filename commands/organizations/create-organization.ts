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

/** Issued in the new organization's scope: its id is the `tenantId` of the command. */
export interface CreateOrganization {
  readonly name: string;
  /** Null: derived from the name. If the slug is taken, a number is appended. */
  readonly slug: string | null;
  readonly externalBaseUrl: string;
  readonly adminId: string;
  readonly ownerEmail: string;
  readonly ownerDisplayName: string;
  /** The creator sees this password too, so the owner has to change it at the first sign-in. */
  readonly ownerPassword: string;
}

interface Facts {
  readonly slug: string;
  readonly accountDigest: string;
  readonly passwordRef: string;
}

type Ports = WithVault & WithPasswords & WithAccountDigest & WithClaimHolders;

/**
 * Creates an organization and its first owner in one append, so that neither exists without the other. Returns the
 * assigned slug.
 */
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
  whenClaimed: ({ kind }) => (kind === 'organization-slug' ? 'prepareAgain' : conflict('account_taken')),
  freshens: ['organizations', 'organization_directory', 'org_admins'],
});
