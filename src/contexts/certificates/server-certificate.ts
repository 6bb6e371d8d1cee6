import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../../platform/config-error.ts';
import { issueServerCertificate } from '../../platform/pki/server-certificate.ts';
import { fileText, NotAFile } from '../../platform/file-content.ts';
import { isFound, leadsNowhere } from '../../platform/is-found.ts';
import { mayWrite } from '../../platform/may-write.ts';
import { requireUsableFolder } from '../../platform/usable-folder.ts';

export interface ServerCertificateDependencies {
  readonly config: { readonly dataDir: string };
}

const DAYS = 365;
const RENEW_BEFORE_MS = 30 * 86_400_000;
const OUR_SUBJECT = 'CN=localhost';
const IP_ADDRESSES = ['127.0.0.1', '::1'];

/** The pair in DATA_DIR/tls stays unusable until somebody corrects it. */
export class UnusablePair extends ConfigError {
  constructor({ certificate, key }: Files, reason: string) {
    super(
      `${certificate} and ${key} must be a certificate and its private key in PEM (${reason}): correct them, or remove both, and a self-signed pair is created`,
    );
    this.name = 'UnusablePair';
  }
}

interface Files {
  readonly certificate: string;
  readonly key: string;
}

interface KeptPair {
  readonly pair: { readonly certificatePem: string; readonly privateKeyPem: string };
  readonly certificate: X509Certificate;
}

const folderIn = (dataDir: string): string => join(dataDir, 'tls');
const filesIn = (folder: string): Files => ({
  certificate: join(folder, 'server.crt'),
  key: join(folder, 'server.key'),
});

/**
 * The pair in DATA_DIR/tls, or undefined if there is none. Where a start would create or renew it, throws `UnusableFolder` or
 * `UnusablePair` if it could not be written. Changes nothing.
 */
export function keptPair(dataDir: string): KeptPair | undefined {
  const files = filesIn(folderIn(dataDir));
  const kept = readPair(files);
  if (kept && !isOursToRenew(kept.certificate)) return kept;
  requireUsableFolder(folderIn(dataDir));
  const closed = kept && [files.certificate, files.key].find((file) => !mayWrite(file));
  if (closed !== undefined) throw new UnusablePair(files, `${closed} is to be renewed, and this user may not write it`);
  return kept;
}

/**
 * An operator may have put their own pair there. A pair that cannot be used is reported, never replaced: `UnusablePair`, or
 * as `fileContent` says what is no file, or not to be seen. Undefined if there is none.
 */
function readPair(files: Files): KeptPair | undefined {
  const found = [files.certificate, files.key].filter(isThere);
  if (found.length === 0) return undefined;
  // Before one is called missing: what is in the place of the other may be the greater surprise.
  const texts = new Map(found.map((file) => [file, fileText(file)]));
  const [certificatePem, privateKeyPem] = [files.certificate, files.key].map((file) => texts.get(file));
  if (certificatePem === undefined || privateKeyPem === undefined)
    throw new UnusablePair(files, `${privateKeyPem === undefined ? files.key : files.certificate} is missing`);
  const pair = { certificatePem, privateKeyPem };
  const understood = <T>(look: () => T, reason: string): T => {
    try {
      return look();
    } catch {
      throw new UnusablePair(files, reason);
    }
  };
  const certificate = understood(
    () => new X509Certificate(pair.certificatePem),
    `${files.certificate} holds no certificate`,
  );
  const key = understood(
    () => createPrivateKey(pair.privateKeyPem),
    `${files.key} holds no private key, or one that needs a passphrase`,
  );
  if (!certificate.checkPrivateKey(key)) throw new UnusablePair(files, 'they do not match');
  understood(
    () => createSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem }),
    'TLS cannot use them: the key is too short, or what follows the certificate is none',
  );
  return { pair, certificate };
}

/** A link to nothing is what somebody has put there: nothing is written through it. */
function isThere(file: string): boolean {
  if (leadsNowhere(file)) throw new NotAFile(file, 'a link to nothing');
  return isFound(file);
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
  const folder = folderIn(config.dataDir);
  const files = filesIn(folder);
  const kept = keptPair(config.dataDir);
  if (kept && !isOursToRenew(kept.certificate)) return kept.pair;
  const hostNames = [...new Set(['localhost', hostname()])];
  const made = issueServerCertificate({ hostNames, ipAddresses: IP_ADDRESSES, now: Date.now(), days: DAYS });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(files.certificate, made.certificatePem, { mode: 0o600 });
  writeFileSync(files.key, made.privateKeyPem, { mode: 0o600 });
  return { certificatePem: made.certificatePem, privateKeyPem: made.privateKeyPem };
}
