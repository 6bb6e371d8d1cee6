import { createPublicKey, type KeyObject } from 'node:crypto';
import { ifReadable } from './certificate.ts';
import { DerError, SequenceReader, TAG, constructedContext, readDer } from './der-reader.ts';
import { readOctetsOfBits, readUnsigned } from './der-values.ts';
import { P256_POINT_LENGTH, P256_PUBLIC_KEY_PREFIX } from './key-pair.ts';
import { pemBlocks, type PemLabel } from './pem.ts';
import { signatureVerifies, trustedAlgorithm } from './signature-algorithm.ts';

/** Characters. A request for a P-256 key has about 500. */
export const LARGEST_REQUEST = 8 * 1024;

/** RFC 7468 §7, and what older tools write. */
const LABELS: readonly PemLabel[] = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];

/** RFC 2986 §4.1: the only version. */
const V1 = '00';

interface CertificationRequest {
  /** CertificationRequestInfo, octet for octet: the signed part. */
  readonly info: Buffer;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  /** AlgorithmIdentifier. */
  readonly algorithm: Buffer;
  readonly signature: Buffer;
}

/** RFC 2986 §4. Throws DerError for anything else. */
function readRequest(der: Buffer): CertificationRequest {
  const outer = new SequenceReader(readDer(der, TAG.sequence));
  const info = outer.take(TAG.sequence);
  const algorithm = outer.take(TAG.sequence).der;
  const signature = readOctetsOfBits(outer.take(TAG.bitString));
  outer.end();

  const fields = new SequenceReader(info);
  if (readUnsigned(fields.take(TAG.integer)) !== V1) throw new DerError('version');
  fields.take(TAG.sequence);
  const publicKey = fields.take(TAG.sequence).der;
  // Some clients omit the attributes, although RFC 2986 requires the element.
  fields.takeIf(constructedContext(0));
  fields.end();
  return { info: info.der, publicKey, algorithm, signature };
}

function openKey(publicKey: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
  } catch {
    // The point is not on the curve.
    return undefined;
  }
}

function provesItsKey({ info, algorithm, signature }: CertificationRequest, key: KeyObject): boolean {
  const named = trustedAlgorithm(algorithm);
  return named !== undefined && signatureVerifies(named, key, info, signature);
}

const isP256 = (publicKey: Buffer): boolean =>
  publicKey.length === P256_PUBLIC_KEY_PREFIX.length + P256_POINT_LENGTH &&
  publicKey.subarray(0, P256_PUBLIC_KEY_PREFIX.length).equals(P256_PUBLIC_KEY_PREFIX);

/**
 * The public key of a PKCS#10 request in PEM (RFC 2986, RFC 7468 §7), as an uncompressed P-256 point of 65 octets, or
 * the reason to refuse it. The signature proves that the sender holds the private key. Subject and attributes are
 * ignored: the certificate names the device and tenant that the server knows.
 */
export function publicPointOfRequest(text: string): Buffer | string {
  const blocks = LABELS.map((label) => pemBlocks(text, label));
  const [block, ...others] = blocks.flatMap((found) => found ?? []);
  const isOne = block !== undefined && others.length === 0 && blocks.every((found) => found !== undefined);
  const request = isOne ? ifReadable(() => readRequest(block)) : undefined;
  if (!request) return 'must be one PEM certificate request (PKCS#10)';
  const { publicKey } = request;
  const key = isP256(publicKey) ? openKey(publicKey) : undefined;
  if (!key) return 'must be for a P-256 key with an uncompressed point';
  if (!provesItsKey(request, key)) return 'must be signed by its own key, with ECDSA and SHA-256, SHA-384 or SHA-512';
  return Buffer.from(publicKey.subarray(P256_PUBLIC_KEY_PREFIX.length));
}
