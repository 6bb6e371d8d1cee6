import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { GuardedFetch } from '../outbound/guarded-fetch.ts';

/** A bucket of Amazon S3 or a compatible service, and the key to it. */
export interface S3Bucket {
  /** Without the bucket, which follows as the first part of the path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
}

/** Sends a request with Signature Version 4, which also covers the content. Every status is returned. */
export async function s3Request(
  { endpoint, bucket, region, accessKeyId, secretAccessKey }: S3Bucket,
  fetch: GuardedFetch,
  { method, key = '', query = {}, body, signal }: S3Request,
): Promise<Response> {
  const url = new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}/${key}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: {
      'x-amz-content-sha256': createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    },
    service: 's3',
    region,
    accessKeyId,
    secretAccessKey,
  });
  const signed = await signer.sign();
  return fetch(signed.url, {
    method,
    headers: Object.fromEntries(signed.headers),
    ...(body ? { body } : {}),
    ...(signal ? { signal } : {}),
  });
}
