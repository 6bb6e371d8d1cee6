import { storeFirstPassword } from '../identity/chosen-password.ts';
import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  orgAdminAccountClaim,
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { alreadyExists, conflict, isFailure, notFound, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest, WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface CreateOrgAdmin {
  readonly adminId: string;
  readonly email: string;
  readonly displayName: string;
  readonly role: OrgRole;
  readonly password: string;
  /** True for a password that someone other than its owner has seen. */
  readonly mustChangePassword: boolean;
}

interface Facts {
  readonly passwordRef: string;
  readonly accountDigest: string;
}

type Ports = WithAggregates & WithVault & WithPasswords & WithAccountDigest;

/** More than any team needs; they are all kept in the state of the organization. */
const MAX_ADMINS = 500;

export const createOrgAdmin = defineCommand({
  name: 'CreateOrgAdmin',
  aggregate: organization,
  stream: (_input: CreateOrgAdmin, { tenantId }) => organizationStream(tenantId),
  async prepare(
    { adminId, email, displayName, password, mustChangePassword }: CreateOrgAdmin,
    ports: Ports,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { name } = await ports.aggregates.load(organization, organizationStream(tenantId));
    const stored = await storeFirstPassword(ports, {
      tenantId,
      place: orgPasswordLocation(adminId),
      password,
      known: [email, displayName, name],
      isTemporary: mustChangePassword,
    });
    return isFailure(stored) ? stored : { ...stored, accountDigest: ports.accountDigest(email) };
  },
  decide(
    state,
    { adminId, email, displayName, role, mustChangePassword },
    { now },
    { passwordRef, accountDigest }: Facts,
  ) {
    if (!state.exists) return notFound();
    if (state.admins.has(adminId)) return conflict();
    if (state.admins.size >= MAX_ADMINS) return conflict('limit_reached', `at most ${MAX_ADMINS} admins`);
    const passwordExpiresAt = mustChangePassword ? temporaryPasswordExpiry(now) : null;
    const data = {
      adminId,
      email,
      accountDigest,
      displayName,
      role,
      passwordRef,
      mustChangePassword,
      passwordExpiresAt,
    };
    return acceptWith({ passwordExpiresAt }, [{ type: 'OrgAdminCreated', data }], {
      claim: [orgAdminAccountClaim(accountDigest)],
    });
  },
  // The text does not say which organization: that is another customer's business.
  whenClaimed: () => alreadyExists('email'),
  recall: (_before, [created]) => ({
    passwordExpiresAt: (created as Extract<OrganizationEvent, { type: 'OrgAdminCreated' }>).data.passwordExpiresAt,
  }),
  freshens: ['org_admins'],
});
