import { refuseGuessable } from '../../src/contexts/identity/domain/password-rule.ts';
import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import { readLicense, type License } from '../../src/contexts/tenants/domain/license.ts';
import type { TenantEvent } from '../../src/contexts/tenants/domain/events.ts';
import { adminEmailClaim, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand, duplicateOf, type Claim } from '../../src/platform/kernel/command.ts';
import { conflict, forbidden, invalid, refuseTogether } from '../../src/platform/kernel/failure.ts';
import { INSTALLATION } from '../../src/platform/kernel/ids.ts';
import type {
  WithAccountDigest,
  WithClaimHolder,
  WithClaimHolders,
  WithLicensePublicKey,
  WithNewAuthority,
  WithPasswords,
  WithVault,
} from '../ports.ts';
import { freeSlug } from './free-slug.ts';

export interface SetUpTenant {
  readonly name: string | null;
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
  readonly licenseKey: string;
  readonly externalBaseUrl: string;
  readonly adminId: string;
  readonly mustChangePassword: boolean;
  /**
   * True for the first tenant, which completes the installation's set-up; false for tenants that an operator adds
   * later.
   */
  readonly completesSetup: boolean;
}

interface Facts {
  readonly license: License;
  readonly passwordRef: string;
  readonly accountDigest: string;
  readonly slug: string;
  readonly authority: Extract<TenantEvent, { type: 'CertificateAuthorityInstalled' }>['data'];
}

export const SETUP_CLAIM: Claim = { kind: 'setup', value: 'complete', tenantId: INSTALLATION };
export const slugClaim = (slug: string): Claim => ({ kind: 'tenant-slug', value: slug, tenantId: INSTALLATION });

type Ports = WithVault &
  WithPasswords &
  WithLicensePublicKey &
  WithAccountDigest &
  WithClaimHolder &
  WithClaimHolders &
  WithNewAuthority;

/** Creates a tenant with its license, its certificate authority and its first super admin, all in one append. */
export const setUpTenant = defineCommand({
  name: 'SetUpTenant',
  aggregate: tenant,
  stream: (_input: SetUpTenant, { tenantId }) => tenantStream(tenantId),
  async prepare(input: SetUpTenant, ports: Ports, { tenantId, now }) {
    if (input.completesSetup && (await ports.claimHolder(INSTALLATION, SETUP_CLAIM)))
      return forbidden('setup_complete');
    const license = readLicense(input.licenseKey, ports.licensePublicKey, now);
    const named = 'refused' in license ? input.name : (input.name ?? license.clientName);
    const guessable = input.mustChangePassword
      ? undefined
      : refuseGuessable('password', input.password, [
          input.email,
          input.displayName,
          ...(named === null ? [] : [named]),
        ]);
    if ('refused' in license) return refuseTogether(invalid('licenseKey', license.refused), guessable)!;
    if (guessable) return guessable;
    const name = input.name ?? license.clientName;
    const { privateKeyPem, ...authority } = ports.newAuthority(name, now);
    const [passwordRef, privateKeyRef, slug] = await Promise.all([
      ports.passwords
        .hash(input.password)
        .then((hash) => ports.vault.put(tenantId, { owner: `admin/${input.adminId}`, field: 'passwordHash' }, hash)),
      ports.vault.put(tenantId, { owner: `tenant/${tenantId}`, field: 'caPrivateKey' }, privateKeyPem),
      freeSlug(slugOf(name), slugClaim, ports),
    ]);
    const facts: Facts = {
      license,
      passwordRef,
      accountDigest: ports.accountDigest(input.email),
      slug,
      authority: {
        certificatePem: authority.certificatePem,
        privateKeyRef,
        fingerprintSha256: authority.fingerprintSha256,
        subject: authority.subject,
        serialNumber: authority.serialNumber,
        notBefore: new Date(authority.notBefore).toISOString(),
        expiresAt: new Date(authority.expiresAt).toISOString(),
        source: 'generated',
      },
    };
    return facts;
  },
  decide(state, input, { tenantId, now }, { license, passwordRef, accountDigest, slug, authority }: Facts) {
    if (state.exists) return conflict();
    const name = input.name ?? license.clientName;
    const { adminId, email, displayName, externalBaseUrl, mustChangePassword } = input;
    const claims = [...(input.completesSetup ? [SETUP_CLAIM] : []), slugClaim(slug), adminEmailClaim(accountDigest)];
    return acceptWith(
      { tenantId, name, slug, license },
      [
        { type: 'TenantSetUp', data: { name, slug, externalBaseUrl } },
        { type: 'LicenseInstalled', data: license },
        {
          type: 'AdminUserCreated',
          data: {
            adminId,
            email,
            accountDigest,
            displayName,
            roleType: 'super_admin',
            passwordRef,
            mustChangePassword,
            passwordExpiresAt: mustChangePassword ? temporaryPasswordExpiry(now) : null,
          },
        },
        { type: 'CertificateAuthorityInstalled', data: authority },
      ],
      { claim: claims },
    );
  },
  whenClaimed: (claim) => (claim.kind === 'setup' ? forbidden('setup_complete') : duplicateOf(claim)),
  freshens: ['tenants', 'tenant_directory', 'admin_users', 'live-state'],
});

/**
 * Lower case; every other character becomes a dash (OP-058). A number is appended if the name is taken; the claim
 * decides races.
 */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return slug.slice(0, 60) || 'tenant';
}
