import { describe, expect, it } from 'vitest';
import { installCertificateAuthority } from '../../../commands/certificates/install-certificate-authority.ts';
import { removeCertificateAuthority } from '../../../commands/certificates/remove-certificate-authority.ts';
import type { TenantEvent } from '../../../src/contexts/tenants/domain/events.ts';
import { tenant } from '../../../src/contexts/tenants/domain/tenant.ts';
import { given } from '../../dsl/given.ts';
import { inDays } from '../devices/histories.ts';

const setUp: TenantEvent = {
  type: 'TenantSetUp',
  data: { name: 'Acme', slug: 'acme', externalBaseUrl: 'https://acme.example' },
};
const authority = (name: string, privateKeyRef: string) => ({
  certificatePem: name,
  privateKeyRef,
  fingerprintSha256: name,
  subject: `CN=${name}`,
  serialNumber: '01',
  notBefore: inDays(-1),
  expiresAt: inDays(3650),
  source: 'uploaded' as const,
});
const first = authority('first', '88888888-8888-4888-8888-888888888881');
const second = authority('second', '88888888-8888-4888-8888-888888888882');
const installed = (data: typeof first): TenantEvent => ({ type: 'CertificateAuthorityInstalled', data });
const removed: TenantEvent = { type: 'CertificateAuthorityRemoved', data: { fingerprintSha256: 'first' } };
const upload = { certificate: 'pem', privateKey: 'pem' };

describe('installing a certificate authority', () => {
  it('makes it the signing authority', () => {
    const outcome = given(setUp).when(installCertificateAuthority, upload, first);
    outcome.then(installed(first));
    outcome.thenForgets();
  });

  it('over another one leaves the previous key unused', () => {
    const outcome = given(setUp, installed(first)).when(installCertificateAuthority, upload, second);
    outcome.then(installed(second));
    outcome.thenForgets(first.privateKeyRef);
  });

  it('keeps trusting devices of every earlier authority, each listed once', () => {
    const state = [setUp, installed(first), installed(second), removed, installed(first)].reduce(
      tenant.fold,
      tenant.initial,
    );
    expect(state.authority?.certificatePem).toBe('first');
    expect(state.trustedAuthorities).toEqual(['first', 'second']);
  });

  it('requires a tenant', () => given().when(installCertificateAuthority, upload, first).thenRefused('notFound'));
});

describe('removing the certificate authority', () => {
  it('leaves no signing authority, but keeps trusting its devices', () => {
    const outcome = given(setUp, installed(first)).when(removeCertificateAuthority, undefined);
    outcome.then(removed);
    outcome.thenForgets(first.privateKeyRef);
    const state = [setUp, installed(first), removed].reduce(tenant.fold, tenant.initial);
    expect(state.authority).toBeUndefined();
    expect(state.trustedAuthorities).toEqual(['first']);
  });

  it('fails where there is none', () =>
    given(setUp).when(removeCertificateAuthority, undefined).thenRefused('notFound'));
});
