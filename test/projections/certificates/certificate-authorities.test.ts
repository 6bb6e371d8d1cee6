import { describe, expect, it } from 'vitest';
import { certificateAuthorities } from '../../../projections/certificates/certificate-authorities.ts';
import { recorded, rowsAfter } from '../../dsl/given.ts';
import { inDays } from '../../commands/devices/histories.ts';

const installed = (n: number, serialNumber: string) =>
  recorded(
    {
      type: 'CertificateAuthorityInstalled',
      data: {
        certificatePem: 'pem',
        privateKeyRef: '88888888-8888-4888-8888-888888888881',
        fingerprintSha256: `f${n}`,
        subject: 'CN=CA',
        serialNumber,
        notBefore: inDays(-1),
        expiresAt: inDays(3650),
        source: 'uploaded',
      },
    },
    n,
  );
const removed = recorded({ type: 'CertificateAuthorityRemoved', data: { fingerprintSha256: 'f1' } }, 3);

describe('the certificate authority of a tenant', () => {
  it('is the latest installed one', () => {
    expect(rowsAfter(certificateAuthorities, [installed(1, '01'), installed(2, '02')])).toMatchObject([
      { serial_number: '02', source: 'uploaded' },
    ]);
  });

  it('is none after its removal', () => {
    expect(rowsAfter(certificateAuthorities, [installed(1, '01'), removed])).toEqual([]);
  });

  it('is shown without a reference to its key', () => {
    expect(JSON.stringify(rowsAfter(certificateAuthorities, [installed(1, '01')]))).not.toContain('8888');
  });
});
