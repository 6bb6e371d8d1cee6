import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { ConfigError } from '../../platform/config-error.ts';
import { issueServerCertificate } from '../../platform/pki/server-certificate.ts';
import { fileText } from '../../platform/file-content.ts';
import { isFound } from '../../platform/is-found.ts';

export interface ServerCertificateDependencies {
  readonly config: { readonly dataDir: string };
}

const DAYS = 365;
const RENEW_BEFORE_MS = 30 * 86_400_000;
const OUR_SUBJECT = 'CN=localhost';
const IP_ADDRESSES = ['127.0.0.1', '::1'];

interface Files {
  readonly certificate: string;
  readonly key: string;
}

/** An operator may have put their own pair there. A pair that cannot be used is reported, never replaced. */
function keptPair(files: Files) {
  if (!isFound(files.certificate) && !isFound(files.key)) return undefined;
  try {
    const pair = {
      certificatePem: fileText(files.certificate),
      privateKeyPem: fileText(files.key),
    };
    const certificate = new X509Certificate(pair.certificatePem);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.privateKeyPem))) throw new Error('they do not match');
    return { pair, certificate };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `${files.certificate} and ${files.key} must be a certificate and its private key in PEM (${code ?? message}): correct them, or remove both, and a self-signed pair is created`,
    );
  }
}

/** Exactly as `serverCertificate` makes them: any other certificate belongs to the operator, and stays. */
function isOurs(certificate: X509Certificate): boolean {
  const days = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 86_400_000;
  return (
    certificate.subject === OUR_SUBJECT &&
    certificate.verify(certificate.publicKey) &&
    IP_ADDRESSES.every((address) => certificate.checkIP(address) !== undefined) &&
    Math.abs(days - DAYS) <= 1
  );
}

const isOursToRenew = (certificate: X509Certificate): boolean =>
  Date.parse(certificate.validTo) <= Date.now() + RENEW_BEFORE_MS && isOurs(certificate);

/** The TLS listener's certificate: the one in DATA_DIR/tls, or a self-signed one that is created there and
 * renewed before it expires. */
export async function serverCertificate({
  config,
}: ServerCertificateDependencies): Promise<{ certificatePem: string; privateKeyPem: string }> {
  const folder = join(config.dataDir, 'tls');
  const files = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  const kept = keptPair(files);
  if (kept && !isOursToRenew(kept.certificate)) return kept.pair;
  const hostNames = [...new Set(['localhost', hostname()])];
  const made = issueServerCertificate({ hostNames, ipAddresses: IP_ADDRESSES, now: Date.now(), days: DAYS });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(files.certificate, made.certificatePem, { mode: 0o600 });
  writeFileSync(files.key, made.privateKeyPem, { mode: 0o600 });
  return { certificatePem: made.certificatePem, privateKeyPem: made.privateKeyPem };
}
