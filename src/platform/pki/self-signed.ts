import { createPrivateKey } from 'node:crypto';
import { signedSequence, tbsCertificate } from './certificate-writing.ts';
import type { Node } from './der.ts';
import { keyIdentifierOfPoint } from './key-identifier.ts';
import { generateKeyPair } from './key-pair.ts';
import { pem } from './pem.ts';
import { freshSerialNumber } from './serial-number.ts';
import type { RandomSource } from './serial-number.ts';
import { ECDSA_SHA256 } from './signature-algorithm.ts';
import { validityNode } from './validity.ts';
import type { Validity } from './validity.ts';

export interface SelfSigned {
  readonly der: Buffer;
  readonly certificatePem: string;
  /** PKCS#8, not encrypted. */
  readonly privateKeyPem: string;
}

/** A certificate of a fresh P-256 key, signed by that key. `extensions` receives the key's identifier. */
export function selfSigned(
  name: Node,
  validity: Validity,
  extensions: (keyIdentifier: Buffer) => readonly Node[],
  random?: RandomSource,
): SelfSigned {
  const { publicPoint, privateKeyPem } = generateKeyPair();
  const toBeSigned = tbsCertificate({
    algorithm: ECDSA_SHA256,
    serial: freshSerialNumber(random),
    issuer: name,
    validity: validityNode(validity),
    subject: name,
    publicPoint,
    extensions: extensions(keyIdentifierOfPoint(publicPoint)),
  });
  const der = signedSequence({ algorithm: ECDSA_SHA256, privateKey: createPrivateKey(privateKeyPem) }, toBeSigned);
  return { der, certificatePem: pem('CERTIFICATE', der), privateKeyPem };
}
