import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { bitString, embed, encode, sequence, unsignedInteger } from '../../src/platform/pki/der.ts';
import { constructedContext, readDer } from '../../src/platform/pki/der-reader.ts';
import { distinguishedName } from '../../src/platform/pki/distinguished-name.ts';
import { P256_PUBLIC_KEY_PREFIX } from '../../src/platform/pki/key-pair.ts';
import { algorithmOid } from '../../src/platform/pki/object-identifiers.ts';
import { pem } from '../../src/platform/pki/pem.ts';

const ECDSA = { sha1: '1.2.840.10045.4.1', sha256: '1.2.840.10045.4.3.2', sha384: '1.2.840.10045.4.3.3' } as const;

export interface MadeRequest {
  readonly publicKey?: KeyObject;
  readonly hash?: keyof typeof ECDSA;
  readonly version?: number;
  readonly attributes?: boolean;
  readonly spki?: Buffer;
}

export const p256 = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
export const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** A PKCS#10 request, signed by `privateKey`. */
export function requestOf(privateKey: KeyObject, made: MadeRequest = {}): Buffer {
  const { publicKey = createPublicKey(privateKey), hash = 'sha256', version = 0, attributes = true } = made;
  const info = sequence(
    unsignedInteger(Buffer.from([version])),
    distinguishedName({ organization: 'anything', commonName: 'anybody' }),
    embed(readDer(made.spki ?? spkiOf(publicKey))),
    ...(attributes ? [embed({ tag: constructedContext(0), content: Buffer.alloc(0) })] : []),
  );
  const signature = sign(hash, encode(info), privateKey);
  return encode(sequence(info, sequence(algorithmOid(ECDSA[hash]).node), bitString(signature)));
}
export const pemOf = (der: Buffer): string => pem('CERTIFICATE REQUEST', der);
/** The uncompressed point of its public key. */
export const pointOf = (privateKey: KeyObject): Buffer =>
  spkiOf(createPublicKey(privateKey)).subarray(P256_PUBLIC_KEY_PREFIX.length);
