import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { openObjects } from '../../../src/platform/objects/open-objects.ts';
import { OutboundRefused } from '../../../src/platform/outbound/guarded-fetch.ts';
import { objectsContract } from '../../contracts/objects.contract.ts';
import { startS3, type S3Peer } from '../../dsl/s3-peer.ts';

const credentials = {
  bucket: 'castellan-test',
  region: 'eu-central-1',
  accessKeyId: 'AKIATEST',
  secretAccessKey: 'a secret/with+signs',
};
const objectsAt = (endpoint: string, over: object = {}) =>
  openObjects({ dataDir: '/nowhere', s3: { endpoint, isTrusted: true, ...credentials, ...over } });

objectsContract('an S3 bucket', async () => {
  const peer = await startS3(credentials);
  return { objects: objectsAt(peer.url), breakIt: async () => peer.failFromNowOn(), close: () => peer.close() };
});

describe('objects in an S3 bucket', () => {
  let peer: S3Peer;
  beforeAll(async () => {
    peer = await startS3(credentials);
  });
  afterAll(() => peer.close());

  it('are not written under another key', async () => {
    await expect(
      objectsAt(peer.url, { secretAccessKey: 'another' }).put('things/one', Buffer.from('x')),
    ).rejects.toThrow('the object storage responded with status 403');
    expect([peer.refused, peer.objects.size]).toEqual([['signature'], 0]);
  });

  it('are not requested at a private address unless the operator allows it', async () => {
    const refused = await objectsAt(peer.url.replace('http:', 'https:'), { isTrusted: false })
      .get('things/one')
      .then(
        () => undefined,
        (error: unknown) => error as Error,
      );
    expect(refused!.message).toBe('the object storage cannot be reached');
    expect(refused!.cause).toBeInstanceOf(OutboundRefused);
  });

  it('are configured completely or not at all, and the error names the missing settings and no value', () => {
    const keys = {
      MASTER_KEY: 'a'.repeat(64),
      AUDIT_HMAC_KEY: 'b'.repeat(64),
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
      DATABASE_URL: 'postgres://nowhere',
    };
    const s3 = {
      S3_ENDPOINT: 'https://s3.example.org',
      S3_BUCKET: 'castellan-test',
      S3_ACCESS_KEY_ID: 'AKIATEST',
      S3_SECRET_ACCESS_KEY: 'not-to-be-shown',
    };
    const { endpoint, region, isTrusted } = readConfig({ ...keys, ...s3 }).s3!;
    expect([endpoint, region, isTrusted, readConfig(keys).s3]).toEqual([
      'https://s3.example.org',
      'us-east-1',
      false,
      undefined,
    ]);
    for (const name of Object.keys(s3)) {
      expect(() => readConfig({ ...keys, ...s3, [name]: '' })).toThrow(
        `${name} is required with the other S3 settings`,
      );
    }
    expect(() => readConfig({ ...keys, ...s3, S3_ENDPOINT: 'ftp://not-to-be-shown' })).toThrow(
      /^S3_ENDPOINT must be (?!.*not-to-be-shown)/,
    );
  });
});
