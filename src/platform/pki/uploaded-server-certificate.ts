import { invalid, isFailure, refuseTogether } from '../kernel/failure.ts';
import type { Failure } from '../kernel/failure.ts';
import { ifReadable } from './certificate.ts';
import { describeCertificate } from './certificate-details.ts';
import { permitsPurpose } from './extension-reading.ts';
import { OID } from './object-identifiers.ts';
import type { ServerCertificate } from './server-certificate.ts';
import { readCertificates, readPair, refuseWithKey } from './uploaded-pair.ts';
import type { UploadedCertificate, UploadedPair } from './uploaded-pair.ts';

/** PEM texts of at most 64 KiB each. The chain may instead follow the certificate in the same text. */
export interface ServerCertificateUpload {
  readonly certificate: string;
  readonly privateKey: string;
  readonly chain?: string | undefined;
}

function readServer(text: string): UploadedPair['certificates'] | Failure {
  const own = readCertificates('certificate', text);
  if (isFailure(own) || ifReadable(() => permitsPurpose(own[0].fields, OID.serverAuth))) return own;
  return invalid('certificate', 'extendedKeyUsage does not include serverAuth');
}

const readChain = (text = ''): readonly UploadedCertificate[] | Failure =>
  text.trim() === '' ? [] : readCertificates('chain', text);

/**
 * Checks a server certificate that an administrator uploads, at `now` (epoch milliseconds). Returns it in normalized
 * form, or the first reason to refuse each of its texts.
 */
export function inspectServerCertificate(upload: ServerCertificateUpload, now: number): ServerCertificate | Failure {
  const [own, issuers] = [readServer(upload.certificate), readChain(upload.chain)];
  if (isFailure(own) || isFailure(issuers)) {
    const refused = refuseTogether(...[own, issuers].filter((read) => isFailure(read)));
    return refuseWithKey(refused!, upload.privateKey);
  }
  const pair = readPair([own[0], ...own.slice(1), ...issuers], upload.privateKey, now);
  if (isFailure(pair)) return pair;
  const { certificatePem, privateKeyPem } = pair;
  return { ...describeCertificate(own[0].fields), certificatePem, privateKeyPem };
}
