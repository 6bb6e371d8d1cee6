import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationAt, operationPath } from './promises.ts';
import { Sanitizer } from './sanitized-exchange.ts';

/**
 * `RECORD_EXAMPLES=<folder>` writes candidates for the examples of the API description: one line for each exchange of an
 * operation that is better than those before it in this process. `scripts/record-examples.ts` sets it and chooses.
 */
const FOLDER = process.env['RECORD_EXAMPLES'];
export const isRecording = FOLDER !== undefined;

/** An exchange as it is in the file of examples. */
export interface RecordedExample {
  readonly status: number;
  /** Values of parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly response?: unknown;
}
export interface ExampleCandidate {
  readonly operationId: string;
  readonly score: number;
  readonly example: RecordedExample;
}

interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly media: string;
  readonly text: string;
}

const origins = new Set<string>();
const best = new Map<string, number>();

/** Exchanges of this process with an application at this address are recorded. */
export function recordOrigin(url: string): void {
  if (!isRecording || url === '') return;
  if (origins.size === 0) recordFetches();
  origins.add(new URL(url).origin);
}

function recordFetches(): void {
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const url = new URL(input instanceof Request ? input.url : input);
    if (origins.has(url.origin) && response.status < 400) {
      const media = response.headers.get('content-type') ?? '';
      const exchange = { method: init?.method ?? 'GET', path: url.pathname + url.search, body: init?.body, media };
      // Not awaited: the test may give up the response, and must see the same timing.
      void response
        .clone()
        .text()
        .then((text) => recordExchange({ ...exchange, status: response.status, text }))
        .catch(() => undefined);
    }
    return response;
  };
}

export function recordExchange(exchange: Exchange): void {
  if (FOLDER === undefined || exchange.status >= 400) return;
  const operation = operationAt(exchange.method, exchange.path);
  // Only the success that the route declares: the first one in the description.
  if (!operation || Object.keys(operation.responses)[0] !== String(exchange.status)) return;
  const example = exampleOf(exchange);
  const score = scoreOf(example);
  if (score <= (best.get(operation.operationId) ?? -Infinity)) return;
  best.set(operation.operationId, score);
  const candidate: ExampleCandidate = { operationId: operation.operationId, score, example };
  appendFileSync(join(FOLDER, `${process.pid}.jsonl`), `${JSON.stringify(candidate)}\n`);
}

function exampleOf({ method, path, body, status, media, text }: Exchange): RecordedExample {
  const [plain, query = ''] = path.split('?');
  const request = bodyOf(body);
  const response = responseOf(media, text);
  const parameters = { ...operationPath(method, plain!), ...Object.fromEntries(new URLSearchParams(query)) };
  const sanitizer = new Sanitizer(Date.now());
  sanitizer.learn(parameters, request, response);
  return {
    status,
    ...(Object.keys(parameters).length === 0
      ? {}
      : { parameters: sanitizer.value(parameters) as Record<string, string> }),
    ...(request === undefined ? {} : { request: sanitizer.value(request) }),
    ...(response === undefined ? {} : { response: sanitizer.value(response) }),
  };
}

function bodyOf(body: unknown): unknown {
  if (body instanceof FormData)
    return Object.fromEntries(
      [...body].map(([name, part]) => [name, typeof part === 'string' ? part : 'the content of the file']),
    );
  if (body instanceof URLSearchParams) return Object.fromEntries(body);
  if (typeof body !== 'string') return undefined;
  return parsed(body) ?? (/^[\w.~%+-]+=[^\s]*$/.test(body) ? Object.fromEntries(new URLSearchParams(body)) : undefined);
}

function responseOf(media: string, text: string): unknown {
  if (/\bjson\b/.test(media)) return parsed(text);
  return media.startsWith('text/') || /xml|pem/.test(media) ? text : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const IDEAL_BYTES = 1_500;
const LONG_BYTES = 5_000;

/** Tells more, up to a page. Hostile inputs of tests are no examples. */
export function scoreOf({ request, response, parameters }: RecordedExample): number {
  const text = JSON.stringify([request, response, parameters]);
  const filled = Math.min(text.length, IDEAL_BYTES) - Math.max(0, text.length - LONG_BYTES) / 4;
  const empty = (text.match(/:(?:null|\[\]|\{\}|"")/g) ?? []).length;
  // eslint-disable-next-line no-control-regex
  const isHostile = /\\u0000|\\u[0-9a-f]{4}|<script|\.\.\/|[^\u0000-\u024f]|x{20}/i.test(text);
  return Math.round(filled - empty * 15 - (isHostile ? 5_000 : 0));
}
