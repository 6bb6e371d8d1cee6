import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { LARGEST_REQUEST, publicPointOfRequest } from '../../../../platform/pki/certificate-request.ts';
import type { DeviceCertificate } from '../../../../platform/pki/device-certificate.ts';
import { pkcs12 } from '../../../../platform/pki/pkcs12.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

/** A PKCS#10 request in PEM; its output is the public key as an uncompressed P-256 point. */
export const certificateRequest = z
  .string()
  .max(LARGEST_REQUEST)
  .transform((text, context) => {
    const point = publicPointOfRequest(text);
    if (typeof point !== 'string') return point;
    context.addIssue({ code: 'custom', message: point });
    return z.NEVER;
  });

/** Who generates the key, and in which form it is returned. */
export const credentialForm = {
  csr: certificateRequest
    .nullish()
    .describe('A PKCS#10 request (PEM, P-256). With it, the private key never leaves the device.'),
  format: z
    .enum(['pem', 'pkcs12'])
    .default('pem')
    .describe('`pkcs12`: the key and both certificates as one file for a certificate store. Not with `csr`.'),
};

interface CredentialForm {
  readonly csr?: Buffer | null | undefined;
  readonly format: 'pem' | 'pkcs12';
}

/** With a request of its own, the device has the key, and a PKCS#12 file needs it. */
export const possibleForm = ruleBetween<CredentialForm>(['format', 'csr'], ({ csr = null, format }) =>
  format === 'pem' || csr === null ? undefined : 'must be pem if csr is set: the server has no key',
);

export const enrolledView = z.object({
  clientCertificate: z.string().describe('PEM.'),
  clientPrivateKey: z.string().nullable().describe('PKCS#8 in PEM. Null with `csr`, and with `pkcs12`.'),
  caCertificate: z.string().describe('PEM.'),
  pkcs12: z.string().optional().describe('With `format` `pkcs12`: the file in Base64.'),
  pkcs12Password: z
    .string()
    .optional()
    .describe('With `format` `pkcs12`: opens the file. Generated for this response.'),
  deviceId: z.uuid(),
  userId: z.uuid(),
  expiresAt: z.iso.datetime(),
});

export interface IssuedCredentials {
  readonly userId: string;
  readonly expiresAt: string;
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

const PASSWORD_OCTETS = 18;

/** The response that hands a device its certificate, and its key if the server generated it. */
export function enrolledViewOf(
  deviceId: string,
  { userId, expiresAt, certificate, caCertificatePem }: IssuedCredentials,
  format: 'pem' | 'pkcs12',
): z.output<typeof enrolledView> {
  const { certificatePem, privateKeyPem } = certificate;
  const password = randomBytes(PASSWORD_OCTETS).toString('base64url');
  const file =
    format === 'pkcs12' && privateKeyPem !== null
      ? pkcs12({ privateKeyPem, certificatePem, caCertificatePem, friendlyName: `Castellan ${deviceId}` }, password)
      : null;
  return {
    clientCertificate: certificatePem,
    clientPrivateKey: file ? null : privateKeyPem,
    caCertificate: caCertificatePem,
    ...(file && { pkcs12: file.toString('base64'), pkcs12Password: password }),
    deviceId,
    userId,
    expiresAt,
  };
}
