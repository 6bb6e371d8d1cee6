import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3Peer {
  readonly url: string;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** Requests with a wrong signature, content digest or date. */
  readonly refused: readonly string[];
  failFromNowOn(): void;
  close(): Promise<void>;
}

interface Credentials {
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const PAGE = 10;
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
const escaped = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.codePointAt(0)!.toString(16).toUpperCase()}`);

/** A storage with the part of Amazon S3 that a bucket of objects needs, and strict checks of Signature Version 4. */
export async function startS3(credentials: Credentials): Promise<S3Peer> {
  const objects = new Map<string, Buffer>();
  const refused: string[] = [];
  let failing = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (failing) return response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      const body = Buffer.concat(chunks);
      const wrong = whatIsWrong(request, body, credentials);
      if (wrong) {
        refused.push(wrong);
        return response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      }
      const url = new URL(request.url!, 'http://s3');
      const [, bucket, ...rest] = url.pathname.split('/');
      const key = decodeURIComponent(rest.join('/'));
      if (bucket !== credentials.bucket) return response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
      if (request.method === 'PUT') return (objects.set(key, body), response.writeHead(200).end());
      if (request.method === 'DELETE') return (objects.delete(key), response.writeHead(204).end());
      if (key === '' && url.searchParams.get('list-type') === '2')
        return response.writeHead(200, { 'content-type': 'application/xml' }).end(listing(objects, url.searchParams));
      const found = objects.get(key);
      return found
        ? response.writeHead(200).end(found)
        : response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    refused,
    failFromNowOn: () => void (failing = true),
    close: () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const after = Buffer.from(query.get('continuation-token') ?? '', 'base64').toString();
  const all = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort();
  const page = all.slice(0, PAGE);
  const contents = page.map(
    (key) =>
      `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified><Size>1</Size></Contents>`,
  );
  const more =
    all.length > PAGE
      ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${Buffer.from(page.at(-1)!).toString('base64')}</NextContinuationToken>`
      : '<IsTruncated>false</IsTruncated>';
  return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}${more}</ListBucketResult>`;
}

/** AWS Signature Version 4, implemented from its specification; undefined if everything is correct. */
function whatIsWrong(
  { method, url: path, headers }: IncomingMessage,
  body: Buffer,
  { region, accessKeyId, secretAccessKey }: Credentials,
): string | undefined {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!parts) return 'no signature';
  const [, id, day, where, names, signature] = parts as unknown as [string, string, string, string, string, string];
  const date = String(headers['x-amz-date']);
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (id !== accessKeyId || where !== region || !date.startsWith(day) || Math.abs(Date.now() - at) > 300_000)
    return 'credential or date';
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'content digest';
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.split(';').includes(name)))
    return 'unsigned headers';
  const url = new URL(path!, 'http://s3');
  const query = [...url.searchParams].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).sort();
  const canonical = [
    method,
    url.pathname,
    query.join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [region, 's3', 'aws4_request'].reduce(
    (from, text) => hmac(from, text),
    hmac(`AWS4${secretAccessKey}`, day),
  );
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`);
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? undefined : 'signature';
}
