import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openObjects } from '../../src/objects/open-objects.ts';
import { OutboundRefused } from '../../src/outbound/guarded-fetch.ts';
import { objectsContract } from '../contracts/objects.contract.ts';
import { startS3, type S3Peer } from '../dsl/s3-peer.ts';

const credentials = { bucket: 'castellan-test', region: 'eu-central-1', accessKeyId: 'AKIATEST', secretAccessKey: 'a secret/with+signs' };
const objectsAt = (endpoint: string, over: object = {}) => openObjects({ dataDir: '/nowhere', s3: { endpoint, isTrusted: true, ...credentials, ...over } });

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
    await expect(objectsAt(peer.url, { secretAccessKey: 'another' }).put('things/one', Buffer.from('x'))).rejects.toThrow('the object storage answered 403');
    expect([peer.refused, peer.objects.size]).toEqual([['signature'], 0]);
  });

  it('are not asked for at a private address unless the operator vouches for it', async () => {
    const refused = await objectsAt(peer.url.replace('http:', 'https:'), { isTrusted: false }).get('things/one').then(() => undefined, (error: unknown) => error as Error);
    expect(refused!.message).toBe('the object storage cannot be reached');
    expect(refused!.cause).toBeInstanceOf(OutboundRefused);
  });
});
