import { createHmac, createPrivateKey, randomBytes } from 'node:crypto';
import forge from 'node-forge';
import {
  bmpString,
  encode,
  embed,
  explicit,
  nullValue,
  octetString,
  sequence,
  setOf,
  unsignedInteger,
  type Node,
} from './der.ts';
import { TAG, readDer } from './der-reader.ts';
import { algorithmOid } from './object-identifiers.ts';
import { firstCertificate } from './pem.ts';

const OID = {
  data: algorithmOid('1.2.840.113549.1.7.1'),
  keyBag: algorithmOid('1.2.840.113549.1.12.10.1.2'),
  certificateBag: algorithmOid('1.2.840.113549.1.12.10.1.3'),
  x509Certificate: algorithmOid('1.2.840.113549.1.9.22.1'),
  friendlyName: algorithmOid('1.2.840.113549.1.9.20'),
  localKeyId: algorithmOid('1.2.840.113549.1.9.21'),
  sha256: algorithmOid('2.16.840.1.101.3.4.2.1'),
} as const;

/** RFC 7292 appendix B.3: the purpose "integrity key". */
const INTEGRITY_KEY = 3;
const MAC_ITERATIONS = 2_048;
const SHA256_LENGTH = 32;
const VERSION = 3;

export interface Pkcs12Contents {
  /** PKCS#8, not encrypted. */
  readonly privateKeyPem: string;
  readonly certificatePem: string;
  readonly caCertificatePem: string;
  /** What certificate managers show. */
  readonly friendlyName: string;
}

const der = (bytes: Buffer): Node => embed(readDer(bytes));
const small = (value: number): Node => unsignedInteger(Buffer.from([value >> 8, value & 0xff]));

/** RFC 7292 §4.2: an attribute with one value. */
const attribute = (type: Node, value: Node): Node => sequence(type, setOf(value));

function certificateBag(certificatePem: string, attributes: readonly Node[]): Node {
  const certificate = sequence(OID.x509Certificate.node, explicit(0, octetString(firstCertificate(certificatePem))));
  return bag(OID.certificateBag.node, certificate, attributes);
}

function bag(type: Node, value: Node, attributes: readonly Node[]): Node {
  const fields = [type, explicit(0, value)];
  return sequence(...fields, ...(attributes.length > 0 ? [setOfAll(attributes)] : []));
}

/** A SET OF in DER order: members sorted by their encoding (X.690 §11.6). */
function setOfAll(members: readonly Node[]): Node {
  const sorted = members.map((member) => encode(member)).sort((one, other) => Buffer.compare(one, other));
  return embed({ tag: TAG.set, content: Buffer.concat(sorted) });
}

/** ContentInfo of the type `data` (RFC 5652 §4). */
const dataContent = (content: Node): Node => sequence(OID.data.node, explicit(0, octetString(encode(content))));

/** RFC 7292 appendix B.2. */
function integrityKey(password: string, salt: Buffer): Buffer {
  const derived = forge.pkcs12.generateKey(
    password,
    forge.util.createBuffer(salt.toString('latin1')),
    INTEGRITY_KEY,
    MAC_ITERATIONS,
    SHA256_LENGTH,
    forge.md.sha256.create(),
  );
  return Buffer.from(derived.getBytes(), 'latin1');
}

function macData(content: Buffer, password: string): Node {
  const salt = randomBytes(16);
  const mac = createHmac('sha256', integrityKey(password, salt)).update(content).digest();
  const digestInfo = sequence(sequence(OID.sha256.node, nullValue()), octetString(mac));
  return sequence(digestInfo, octetString(salt), small(MAC_ITERATIONS));
}

/**
 * A PKCS#12 file (RFC 7292) for the certificate store of an operating system: the key encrypted with PBES2
 * (PBKDF2-HMAC-SHA-256, AES-256-CBC), both certificates in clear, an HMAC-SHA-256 over all. `password` must be random:
 * the number of iterations is small.
 */
export function pkcs12(contents: Pkcs12Contents, password: string): Buffer {
  const encryptedKey = createPrivateKey(contents.privateKeyPem).export({
    type: 'pkcs8',
    format: 'der',
    cipher: 'aes-256-cbc',
    passphrase: password,
  });
  // Links the key to its certificate.
  const own = [
    attribute(OID.localKeyId.node, octetString(Buffer.from([1]))),
    attribute(OID.friendlyName.node, bmpString(contents.friendlyName)),
  ];
  const certificates = sequence(
    certificateBag(contents.certificatePem, own),
    certificateBag(contents.caCertificatePem, []),
  );
  const key = sequence(bag(OID.keyBag.node, der(encryptedKey), own));
  const authenticatedSafe = encode(sequence(dataContent(certificates), dataContent(key)));
  return encode(
    sequence(
      small(VERSION),
      sequence(OID.data.node, explicit(0, octetString(authenticatedSafe))),
      macData(authenticatedSafe, password),
    ),
  );
}
