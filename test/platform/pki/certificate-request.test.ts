import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { embed, encode, explicit } from '../../../src/platform/pki/der.ts';
import { readDer } from '../../../src/platform/pki/der-reader.ts';
import { publicPointOfRequest } from '../../../src/platform/pki/certificate-request.ts';
import { pem } from '../../../src/platform/pki/pem.ts';
import { p256, pemOf, pointOf, requestOf, spkiOf, type MadeRequest } from '../../dsl/certificate-request.ts';
import { hasOpenssl, openssl, withOpenssl } from './openssl.ts';

describe('a certificate request', () => {
  const { privateKey } = p256();

  it.each([
    ['with SHA-256', {}],
    ['with SHA-384', { hash: 'sha384' }],
    ['without attributes', { attributes: false }],
  ] as [string, MadeRequest][])('yields its public key %s', (_what, made) => {
    expect(publicPointOfRequest(pemOf(requestOf(privateKey, made)))).toEqual(pointOf(privateKey));
  });

  it('may carry the older label, and text around the block', () => {
    const text = `Subject: me\n${pem('NEW CERTIFICATE REQUEST', requestOf(privateKey))}\n`;
    expect(publicPointOfRequest(text)).toEqual(pointOf(privateKey));
  });

  it.each([
    ['an empty text', '', 'PKCS#10'],
    ['a certificate', pem('CERTIFICATE', requestOf(privateKey)), 'PKCS#10'],
    ['two requests', pemOf(requestOf(privateKey)).repeat(2), 'PKCS#10'],
    ['trailing octets', pemOf(Buffer.concat([requestOf(privateKey), Buffer.from([0])])), 'PKCS#10'],
    ['another version', pemOf(requestOf(privateKey, { version: 1 })), 'PKCS#10'],
    ['a cut request', pemOf(requestOf(privateKey).subarray(0, -3)), 'PKCS#10'],
    [
      'the key of another device',
      pemOf(requestOf(privateKey, { publicKey: p256().publicKey })),
      'signed by its own key',
    ],
    ['SHA-1', pemOf(requestOf(privateKey, { hash: 'sha1' })), 'signed by its own key'],
    ['a point that is not on the curve', pemOf(requestOf(privateKey, { spki: offTheCurve() })), 'P-256'],
    ['P-384', pemOf(requestOf(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey)), 'P-256'],
    ['wrapped content', pemOf(encode(explicit(0, embed(readDer(requestOf(privateKey)))))), 'PKCS#10'],
  ])('is refused: %s', (_what, text, reason) => {
    expect(publicPointOfRequest(text)).toContain(reason);
  });

  it('is refused if one octet of the signed part was changed', () => {
    const request = requestOf(privateKey);
    const changed = Buffer.from(request);
    const at = changed.indexOf('anybody');
    changed[at] = changed[at]! ^ 1;
    expect(publicPointOfRequest(pemOf(changed))).toContain('signed by its own key');
  });

  it.skipIf(!hasOpenssl)(withOpenssl('that openssl wrote is understood'), () => {
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const { ok, output } = openssl(['req', '-new', '-key', 'key.pem', '-subj', '/CN=x', '-sha256'], { 'key.pem': key });
    expect(ok).toBe(true);
    expect(publicPointOfRequest(output)).toEqual(pointOf(createPrivateKey(key)));
  });
});

/** The public key of a P-256 key, with one bit of the point changed. */
function offTheCurve(): Buffer {
  const spki = Buffer.from(spkiOf(p256().publicKey));
  spki[spki.length - 1] = spki[spki.length - 1]! ^ 1;
  return spki;
}
