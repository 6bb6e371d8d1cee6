import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { scoreOf, type RecordedExample } from './example-score.ts';
import { operationAt, operationPath } from './promises.ts';
import { Sanitizer } from './sanitized-exchange.ts';

/**
 * `RECORD_EXAMPLES=<folder>` writes candidates for the examples of the API description: one line for each exchange of an
 * operation that is better than those before it in this process. `scripts/record-examples.ts` sets it and chooses.
 */
const FOLDER = process.env['RECORD_EXAMPLES'];
export const isRecording = FOLDER !== undefined;

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

export async function recordExchange(exchange: Exchange): Promise<void> {
  if (FOLDER === undefined || exchange.status >= 400) return;
  const operation = operationAt(exchange.method, exchange.path);
  // Only the success that the route declares: the first one in the description.
  if (!operation || Object.keys(operation.responses)[0] !== String(exchange.status)) return;
  const example = exampleOf(exchange);
  const score = scoreOf(example);
  if (score <= (best.get(operation.operationId) ?? -Infinity)) return;
  // Generates the description, which only recording needs.
  const { exampleProblems } = await import('./example-check.ts');
  // Written all the same: the script says why nothing fits.
  if (exampleProblems(operation.operationId, example).length === 0) best.set(operation.operationId, score);
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

const FILE = 'the content of the file';

function bodyOf(body: unknown): unknown {
  if (body instanceof FormData)
    return Object.fromEntries([...body].map(([name, part]) => [name, typeof part === 'string' ? part : FILE]));
  if (Buffer.isBuffer(body)) return partsOf(body.toString('latin1'));
  if (body instanceof URLSearchParams) return Object.fromEntries(body);
  if (typeof body !== 'string') return undefined;
  return parsed(body) ?? (/^[\w.~%+-]+=[^\s]*$/.test(body) ? Object.fromEntries(new URLSearchParams(body)) : undefined);
}

const PART = /name="(\w+)"(;\s*filename=)?[^]*?\r\n\r\n([^]*?)\r\n--/g;

/** The fields of a multipart body that a test has put together itself. */
function partsOf(text: string): unknown {
  const parts = [...text.matchAll(PART)].map(([, name, isFile, value]) => [name, isFile ? FILE : value]);
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
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
