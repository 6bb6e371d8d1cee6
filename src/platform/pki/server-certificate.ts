import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { readCertificate } from './certificate.ts';
import { describeCertificate } from './certificate-details.ts';
import type { CertificateDetails } from './certificate-details.ts';
import { distinguishedName } from './distinguished-name.ts';
import {
  KEY_USAGE,
  basicConstraintsOfLeaf,
  dnsName,
  extendedKeyUsage,
  ipName,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
} from './extension-writing.ts';
import { OID } from './object-identifiers.ts';
import { selfSigned } from './self-signed.ts';
import { validityFrom } from './validity.ts';

export interface ServerCertificateRequest {
  /** DNS names, in ASCII (`xn--…`); a first label of `*` is a wildcard. */
  readonly hostNames: readonly string[];
  /** IPv4 or IPv6 text. */
  readonly ipAddresses: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
  readonly days: number;
}

export interface ServerCertificate extends CertificateDetails {
  /** The server's own certificate first, then the chain. */
  readonly certificatePem: string;
  /** PKCS#8, not encrypted. */
  readonly privateKeyPem: string;
}

const DAY_MS = 86_400_000;
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

function hostName(text: string): string {
  if (!HOST_NAME.test(text)) throw new TypeError('not a host name');
  return text;
}

function ipOctets(text: string): Uint8Array {
  if (isIP(text) === 0) throw new TypeError('not an IP address');
  return Uint8Array.from(ipaddr.parse(text).toByteArray());
}

/**
 * A self-signed P-256 certificate for the TLS listener of an installation without a configured one. Clients must be
 * configured to trust it. An invalid name or address, or no name at all, is a TypeError.
 */
export function issueServerCertificate({
  hostNames,
  ipAddresses,
  now,
  days,
}: ServerCertificateRequest): ServerCertificate {
  const [commonName] = [...hostNames, ...ipAddresses];
  if (commonName === undefined) throw new TypeError('a server certificate needs a host name or an IP address');
  const names = [
    ...hostNames.map((host) => dnsName(hostName(host))),
    ...ipAddresses.map((address) => ipName(ipOctets(address))),
  ];
  const { der, certificatePem, privateKeyPem } = selfSigned(
    distinguishedName({ commonName }),
    validityFrom(now, now + days * DAY_MS),
    (keyIdentifier) => [
      basicConstraintsOfLeaf(),
      keyUsage(KEY_USAGE.digitalSignature),
      extendedKeyUsage(OID.serverAuth),
      subjectAltName(...names),
      subjectKeyIdentifier(keyIdentifier),
    ],
  );
  return { ...describeCertificate(readCertificate(der)), certificatePem, privateKeyPem };
}
