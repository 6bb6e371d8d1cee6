import { invalid, isFailure } from '../kernel/failure.ts';
import type { Failure } from '../kernel/failure.ts';
import { ifReadable } from './certificate.ts';
import { describeCertificate } from './certificate-details.ts';
import { permitsPurpose } from './extension-reading.ts';
import { OID } from './object-identifiers.ts';
import type { ServerCertificate } from './server-certificate.ts';
import { readCertificates, readPair } from './uploaded-pair.ts';
import type { UploadedPair } from './uploaded-pair.ts';

/** PEM texts of at most 64 KiB each. The chain may instead follow the certificate in the same text. */
export interface ServerCertificateUpload {
  readonly certificate: string;
  readonly privateKey: string;
  readonly chain?: string | undefined;
}

function withChain(
  own: UploadedPair['certificates'],
  chain: string | undefined,
): UploadedPair['certificates'] | Failure {
  if (chain === undefined || chain.trim() === '') return own;
  const issuers = readCertificates('chain', chain);
  return isFailure(issuers) ? issuers : [own[0], ...own.slice(1), ...issuers];
}

/**
 * Checks a server certificate that an administrator uploads, at `now` (epoch milliseconds). Returns it in normalized
 * form, or the first reason to refuse it.
 */
export function inspectServerCertificate(upload: ServerCertificateUpload, now: number): ServerCertificate | Failure {
  const own = readCertificates('certificate', upload.certificate);
  if (isFailure(own)) return own;
  if (!ifReadable(() => permitsPurpose(own[0].fields, OID.serverAuth))) {
    return invalid('certificate', 'extendedKeyUsage does not include serverAuth');
  }
  const certificates = withChain(own, upload.chain);
  if (isFailure(certificates)) return certificates;
  const pair = readPair(certificates, upload.privateKey, now);
  if (isFailure(pair)) return pair;
  const { certificatePem, privateKeyPem } = pair;
  return { ...describeCertificate(own[0].fields), certificatePem, privateKeyPem };
}
