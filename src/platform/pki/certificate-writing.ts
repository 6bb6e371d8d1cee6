import type { KeyObject } from 'node:crypto';
import { bitString, embed, encode, explicit, unsignedInteger, sequence } from './der.ts';
import type { Node } from './der.ts';
import { TAG, readDer } from './der-reader.ts';
import { extensions } from './extension-writing.ts';
import { OID } from './object-identifiers.ts';
import { signWith } from './signature-algorithm.ts';
import type { SignatureAlgorithm } from './signature-algorithm.ts';

export interface Signer {
  readonly algorithm: SignatureAlgorithm;
  readonly privateKey: KeyObject;
}

export interface CertificateContents {
  readonly algorithm: SignatureAlgorithm;
  readonly serial: Buffer;
  readonly issuer: Node;
  readonly validity: Node;
  readonly subject: Node;
  /** Uncompressed P-256 point. */
  readonly publicPoint: Buffer;
  readonly extensions: readonly Node[];
}

const VERSION_3 = Uint8Array.of(2);

export const algorithmIdentifier = ({ der }: SignatureAlgorithm): Node => embed(readDer(der, TAG.sequence));

/** TBSCertificate (RFC 5280 §4.1) of a P-256 key. */
export const tbsCertificate = (contents: CertificateContents): Buffer =>
  encode(
    sequence(
      explicit(0, unsignedInteger(VERSION_3)),
      unsignedInteger(contents.serial),
      algorithmIdentifier(contents.algorithm),
      contents.issuer,
      contents.validity,
      contents.subject,
      sequence(sequence(OID.ecPublicKey.node, OID.prime256v1.node), bitString(contents.publicPoint)),
      extensions(...contents.extensions),
    ),
  );

/** `SEQUENCE { toBeSigned, algorithm, signature }`: certificates and revocation lists alike. */
export function signedSequence({ algorithm, privateKey }: Signer, toBeSigned: Buffer): Buffer {
  const signature = signWith(algorithm, privateKey, toBeSigned);
  return encode(
    sequence(embed(readDer(toBeSigned, TAG.sequence)), algorithmIdentifier(algorithm), bitString(signature)),
  );
}
