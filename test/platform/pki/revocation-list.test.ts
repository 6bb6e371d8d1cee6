import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { elements, readDer } from '../../../src/platform/pki/der-reader.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import type { CertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { pemBlocks } from '../../../src/platform/pki/pem.ts';
import { issueRevocationList } from '../../../src/platform/pki/revocation-list.ts';
import type { RevocationList, RevokedCertificate } from '../../../src/platform/pki/revocation-list.ts';
import { DAY, NOW, issued, newAuthority, rsaAuthority } from './fixtures.ts';
import { hasOpenssl, openssl, withOpenssl } from './openssl.ts';

const list = (
  issuer: CertificateIssuer,
  entries: readonly RevokedCertificate[],
  request = { thisUpdate: NOW, nextUpdate: NOW + DAY, number: 1n },
): RevocationList => {
  const answer = issueRevocationList(issuer, entries, request);
  if (isFailure(answer)) throw new Error(answer.message);
  return answer;
};

describe('a revocation list', () => {
  const issuer = prepareCertificateIssuer(newAuthority());

  it('is the same as PEM and as DER', () => {
    const { der, pem } = list(issuer, []);
    expect(pemBlocks(pem, 'X509 CRL')).toEqual([der]);
  });

  it('omits the entries if there are none (RFC 5280 §5.1.2.6)', () => {
    const fields = (entries: readonly RevokedCertificate[]): string[] => {
      const [toBeSigned] = elements(readDer(list(issuer, entries).der).content);
      return elements(toBeSigned?.content ?? Buffer.of()).map(({ tag }) => tag.toString(16));
    };
    expect(fields([])).toEqual(['2', '30', '30', '17', '17', 'a0']);
    expect(fields([{ serialNumber: '01', revokedAt: NOW }])).toEqual(['2', '30', '30', '17', '17', '30', 'a0']);
  });

  it('is refused by an authority that may not sign lists', () => {
    const keyUsage = { name: 'keyUsage', keyCertSign: true, critical: true };
    const unable = prepareCertificateIssuer(
      rsaAuthority({ extensions: [{ name: 'basicConstraints', cA: true, critical: true }, keyUsage] }),
    );
    const answer = issueRevocationList(unable, [], { thisUpdate: NOW, nextUpdate: NOW + DAY, number: 1 });
    expect(answer).toMatchObject({ failed: true, kind: 'unavailable' });
  });

  it.each(['', 'XYZ', '1', 'AB'.repeat(21), 'ABC', '01 02'])('rejects %j as a serial number', (serialNumber) => {
    expect(() => list(issuer, [{ serialNumber, revokedAt: NOW }])).toThrow(TypeError);
  });

  it('must end after its beginning', () => {
    expect(() => list(issuer, [], { thisUpdate: NOW, nextUpdate: NOW, number: 1n })).toThrow(RangeError);
  });
});

describe.skipIf(!hasOpenssl)(withOpenssl('openssl on revocation lists'), () => {
  const now = Date.now();
  const current = { notBefore: now, notAfter: now + DAY };
  const lasting = { thisUpdate: now - 1000, nextUpdate: now + DAY, number: 0xff0102030405n };
  const verify = ['verify', '-x509_strict', '-crl_check', '-CAfile', 'ca.pem', '-CRLfile', 'list.pem', 'device.pem'];

  it.each([
    ['P-256', () => newAuthority(now)],
    ['RSA', () => rsaAuthority({ notBefore: now - DAY })],
  ])('tells a revoked certificate from another one under a %s authority', (_which, make) => {
    const authority = make();
    const issuer = prepareCertificateIssuer(authority);
    const [kept, revoked] = [issued(issuer, current), issued(issuer, current)];
    const { pem } = list(
      issuer,
      [{ serialNumber: revoked.serialNumber, revokedAt: now - 1000, reason: 'keyCompromise' }],
      lasting,
    );
    const files = { 'ca.pem': authority.certificatePem, 'list.pem': pem };
    expect(openssl(verify, { ...files, 'device.pem': kept.certificatePem })).toMatchObject({ ok: true });
    const refused = openssl(verify, { ...files, 'device.pem': revoked.certificatePem });
    expect(refused.ok).toBe(false);
    expect(refused.output).toContain('certificate revoked');
  });

  it('accepts an empty list as one that revokes nothing', () => {
    const authority = newAuthority(now);
    const issuer = prepareCertificateIssuer(authority);
    const files = {
      'ca.pem': authority.certificatePem,
      'list.pem': list(issuer, [], lasting).pem,
      'device.pem': issued(issuer, current).certificatePem,
    };
    expect(openssl(verify, files)).toMatchObject({ ok: true });
  });

  it('rejects the list of another authority of the same name', () => {
    const [authority, namesake] = [newAuthority(now), newAuthority(now)];
    const device = issued(prepareCertificateIssuer(authority), current).certificatePem;
    const files = {
      'ca.pem': authority.certificatePem,
      'list.pem': list(prepareCertificateIssuer(namesake), [], lasting).pem,
      'device.pem': device,
    };
    expect(openssl(verify, files)).toMatchObject({ ok: false });
  });

  it('reads version, number, serials with their high bit set, reasons, and dates from 2050', () => {
    const authority = newAuthority(now);
    const entries: RevokedCertificate[] = [
      { serialNumber: 'FF00FF', revokedAt: Date.UTC(2049, 11, 31, 23, 59, 59), reason: 'superseded' },
      { serialNumber: '7f', revokedAt: Date.UTC(2050, 0, 1), reason: 'cessationOfOperation' },
      { serialNumber: '00', revokedAt: now },
    ];
    const { pem } = list(prepareCertificateIssuer(authority), entries, lasting);
    const { ok, output } = openssl(['crl', '-in', 'list.pem', '-noout', '-text', '-verify', '-CAfile', 'ca.pem'], {
      'list.pem': pem,
      'ca.pem': authority.certificatePem,
    });
    expect(ok).toBe(true);
    expect(output).toContain('verify OK');
    expect(output).toContain('Version 2 (0x1)');
    expect(output).toMatch(/CRL Number:\s+(0xFF0102030405|280379793802245)\s/);
    expect(output).toMatch(
      /Serial Number: FF00FF\s+Revocation Date: Dec 31 23:59:59 2049 GMT\s+CRL entry extensions:\s+X509v3 CRL Reason Code:\s+Superseded/,
    );
    expect(output).toMatch(
      /Serial Number: 7F\s+Revocation Date: Jan\s+1 00:00:00 2050 GMT\s+CRL entry extensions:\s+X509v3 CRL Reason Code:\s+Cessation Of Operation/,
    );
    expect(output).toMatch(/Serial Number: 00\s+Revocation Date: [^\n]+GMT\s+Signature/);
  });

  it('finds one entry among ten thousand', () => {
    const authority = newAuthority(now);
    const issuer = prepareCertificateIssuer(authority);
    const device = issued(issuer, current);
    const others = Array.from({ length: 10_000 }, () => ({
      serialNumber: randomUUID().replaceAll('-', ''),
      revokedAt: now,
    }));
    const files = { 'ca.pem': authority.certificatePem, 'device.pem': device.certificatePem };
    expect(openssl(verify, { ...files, 'list.pem': list(issuer, others, lasting).pem })).toMatchObject({ ok: true });
    const all = [...others, { serialNumber: device.serialNumber, revokedAt: now }];
    expect(openssl(verify, { ...files, 'list.pem': list(issuer, all, lasting).pem })).toMatchObject({ ok: false });
  });
});
