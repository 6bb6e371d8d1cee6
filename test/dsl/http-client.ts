import { Agent, request as undiciRequest } from 'undici';
import { isRecording, recordExchange } from './example-recorder.ts';
import { checkPromise } from './promises.ts';

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
  readonly text: string;
}

export interface TestRequestOptions {
  readonly body?: unknown;
  /** Sent unchanged, with its own content type in `headers`. */
  readonly raw?: string | Buffer;
  readonly headers?: Record<string, string>;
}

/** An HTTP client with any credential. */
export interface Client {
  get(path: string, asking?: TestRequestOptions): Promise<TestResponse>;
  post(path: string, body?: unknown, asking?: TestRequestOptions): Promise<TestResponse>;
  put(path: string, body?: unknown, asking?: TestRequestOptions): Promise<TestResponse>;
  delete(path: string, asking?: TestRequestOptions): Promise<TestResponse>;
  send(method: string, path: string, asking?: TestRequestOptions): Promise<TestResponse>;
}

export function clientOver(send: Client['send']): Client {
  return {
    send,
    get: (path, asking) => send('GET', path, asking),
    post: (path, body, asking) => send('POST', path, { ...asking, body }),
    put: (path, body, asking) => send('PUT', path, { ...asking, body }),
    delete: (path, asking) => send('DELETE', path, asking),
  };
}

export const payloadOf = ({ body, raw }: TestRequestOptions): string | Buffer | undefined =>
  raw ?? (body === undefined ? undefined : JSON.stringify(body));

export const headersOf = ({ body, headers = {} }: TestRequestOptions): Record<string, string> => ({
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...headers,
});

/** What `fetch` sends by itself. */
const USUAL = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
  'accept-encoding': 'gzip, deflate',
};

/** Names are compared without regard to case: a later one replaces an earlier one. */
const merged = (...all: readonly Record<string, string>[]): Record<string, string> =>
  Object.fromEntries(
    all.flatMap((headers) => Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  );

function received(status: number, fields: Record<string, string | string[] | undefined>, text: string): TestResponse {
  const headers = new Headers();
  for (const [name, values] of Object.entries(fields))
    for (const value of [values ?? []].flat()) headers.append(name, value);
  return { status, headers, text, body: parsed(text) };
}

export function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const agent = new Agent();

/** Tests send tens of thousands of requests, and `fetch` costs twice as much as its own dispatcher. */
export function httpClient(url: string, always: Record<string, string>): Client {
  return clientOver(async (method, path, asking = {}) => {
    const payload = payloadOf(asking);
    const { statusCode, headers, body } = await undiciRequest(url + path, {
      dispatcher: agent,
      method: method as 'GET',
      headers: merged(USUAL, always, headersOf(asking)),
      body: payload ?? null,
    });
    const answer = received(statusCode, headers, await body.text());
    if (isRecording && statusCode < 400)
      void recordExchange({
        method,
        path,
        body: payload,
        status: statusCode,
        media: answer.headers.get('content-type') ?? '',
        text: answer.text,
      });
    checkPromise(method, path, answer);
    return answer;
  });
}
