import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { issueServerCertificate } from '../../platform/pki/server-certificate.ts';

export interface ServerCertificateDependencies {
  readonly config: { readonly dataDir: string };
}

const DAYS = 365;
const RENEW_BEFORE_MS = 30 * 86_400_000;

/** The TLS listener's certificate: the one in DATA_DIR/tls, or a self-signed one that is created there and renewed. */
export async function serverCertificate({
  config,
}: ServerCertificateDependencies): Promise<{ certificatePem: string; privateKeyPem: string }> {
  const folder = join(config.dataDir, 'tls');
  const files = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  if (existsSync(files.certificate) && existsSync(files.key)) {
    const certificatePem = readFileSync(files.certificate, 'utf8');
    if (Date.parse(new X509Certificate(certificatePem).validTo) > Date.now() + RENEW_BEFORE_MS) {
      return { certificatePem, privateKeyPem: readFileSync(files.key, 'utf8') };
    }
  }
  const hostNames = [...new Set(['localhost', hostname()])];
  const made = issueServerCertificate({ hostNames, ipAddresses: ['127.0.0.1', '::1'], now: Date.now(), days: DAYS });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(files.certificate, made.certificatePem, { mode: 0o600 });
  writeFileSync(files.key, made.privateKeyPem, { mode: 0o600 });
  return { certificatePem: made.certificatePem, privateKeyPem: made.privateKeyPem };
}
