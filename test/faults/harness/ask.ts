import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Reply {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
  readonly text: string;
  readonly ms: number;
  readonly location: string | undefined;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: Buffer | string;
  readonly agent?: HttpAgent | HttpsAgent;
  /** The loopback source address, for limits that count by address. */
  readonly from?: string;
  readonly timeoutMs?: number;
}

/** One HTTP request, with a deadline for the whole response. Rejects without a response. */
export function ask(
  url: string,
  { method = 'GET', headers = {}, body, raw, agent, from, timeoutMs = 15_000 }: Question = {},
): Promise<Reply> {
  const started = performance.now();
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
        ...headers,
      },
      rejectUnauthorized: false,
      ...(agent ? { agent } : {}),
      ...(from ? { localAddress: from } : {}),
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          text,
          body: parsed(text),
          ms: performance.now() - started,
          location: response.headers.location,
        });
      });
    });
    request.end(payload);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
