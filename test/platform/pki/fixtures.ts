import { randomUUID } from 'node:crypto';
import forge from 'node-forge';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import { createAuthority } from '../../../src/platform/pki/authority.ts';
import type { Authority } from '../../../src/platform/pki/authority.ts';
import { signedSequence, tbsCertificate } from '../../../src/platform/pki/certificate-writing.ts';
import type { CertificateContents } from '../../../src/platform/pki/certificate-writing.ts';
import { embed } from '../../../src/platform/pki/der.ts';
import { issueDeviceCertificate } from '../../../src/platform/pki/device-certificate.ts';
import type { DeviceCertificate, DeviceCertificateRequest } from '../../../src/platform/pki/device-certificate.ts';
import { deviceUri } from '../../../src/platform/pki/device-name.ts';
import { distinguishedName } from '../../../src/platform/pki/distinguished-name.ts';
import {
  KEY_USAGE,
  basicConstraintsOfLeaf,
  extendedKeyUsage,
  keyUsage,
  subjectAltName,
  uriName,
} from '../../../src/platform/pki/extension-writing.ts';
import type { CertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { generateKeyPair } from '../../../src/platform/pki/key-pair.ts';
import { OID } from '../../../src/platform/pki/object-identifiers.ts';
import { freshSerialNumber } from '../../../src/platform/pki/serial-number.ts';
import { validityFrom, validityNode } from '../../../src/platform/pki/validity.ts';
import { rsaKeyPem } from '../../dsl/rsa-keys.ts';

export const DAY = 86_400_000;
export const NOW = Date.UTC(2027, 4, 3, 12, 0, 0);

export const newTenant = (): TenantId => asTenantId(randomUUID());

export const newAuthority = (now = NOW): Authority =>
  createAuthority({ commonName: 'Acme CA', organization: 'Acme', years: 10, now });

type WithKey = DeviceCertificate & { readonly privateKeyPem: string };

/** A device certificate for a fresh key, by default for a year from NOW. */
export function issued(
  issuer: CertificateIssuer,
  request: Partial<Omit<DeviceCertificateRequest, 'publicPoint'>> = {},
): WithKey {
  const answer = issueDeviceCertificate(issuer, {
    tenantId: newTenant(),
    deviceId: randomUUID(),
    notBefore: NOW,
    notAfter: NOW + 365 * DAY,
    ...request,
  });
  if (isFailure(answer)) throw new Error(answer.message);
  return answer as WithKey;
}

/** The parts of a valid device certificate, so that a test can replace one and sign the result. */
export function leafContents(issuer: CertificateIssuer, tenantId: string, deviceId: string): CertificateContents {
  return {
    algorithm: issuer.algorithm,
    serial: freshSerialNumber(),
    issuer: embed(issuer.certificate.subject),
    validity: validityNode(validityFrom(NOW, NOW + DAY)),
    subject: distinguishedName({ organization: tenantId, commonName: deviceId }),
    publicPoint: generateKeyPair().publicPoint,
    extensions: [
      basicConstraintsOfLeaf(),
      keyUsage(KEY_USAGE.digitalSignature),
      extendedKeyUsage(OID.clientAuth),
      subjectAltName(uriName(deviceUri(tenantId, deviceId))),
    ],
  };
}

export const signLeaf = (issuer: CertificateIssuer, contents: CertificateContents): Buffer =>
  signedSequence(issuer, tbsCertificate(contents));

export interface RsaRequest {
  readonly bits?: number;
  readonly digest?: 'sha1' | 'sha256';
  readonly extensions?: readonly object[];
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** Signs it instead of its own key. */
  readonly parent?: RsaAuthority;
  readonly commonName?: string;
  /** Neither subjectKeyIdentifier nor authorityKeyIdentifier. */
  readonly withoutIdentifiers?: boolean;
}

export interface RsaAuthority {
  readonly certificatePem: string;
  /** PKCS#1, as older software writes it. */
  readonly privateKeyPem: string;
}

/** An RSA authority of another implementation: node-forge. */
export function rsaAuthority(request: RsaRequest = {}): RsaAuthority {
  const {
    bits = 2048,
    digest = 'sha256',
    notBefore = NOW - DAY,
    notAfter = NOW + 3650 * DAY,
    commonName = 'RSA CA',
  } = request;
  const privateKey = forge.pki.privateKeyFromPem(rsaKeyPem(bits));
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(privateKey.n, privateKey.e);
  certificate.serialNumber = '00f1a2b3c4';
  certificate.validity.notBefore = new Date(notBefore);
  certificate.validity.notAfter = new Date(notAfter);
  const name = [
    { name: 'organizationName', value: 'Acme' },
    { name: 'commonName', value: commonName },
  ];
  certificate.setSubject(name);
  const parent = request.parent && forge.pki.certificateFromPem(request.parent.certificatePem);
  certificate.setIssuer(parent ? parent.subject.attributes : name);
  certificate.setExtensions([
    ...(request.extensions ?? [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ]),
    ...(request.withoutIdentifiers
      ? []
      : [
          { name: 'subjectKeyIdentifier' },
          {
            name: 'authorityKeyIdentifier',
            keyIdentifier: (parent ?? certificate).generateSubjectKeyIdentifier().getBytes(),
          },
        ]),
  ]);
  const signingKey = request.parent ? forge.pki.privateKeyFromPem(request.parent.privateKeyPem) : privateKey;
  certificate.sign(signingKey, forge.md[digest].create());
  return {
    certificatePem: forge.pki.certificateToPem(certificate),
    privateKeyPem: forge.pki.privateKeyToPem(privateKey),
  };
}
