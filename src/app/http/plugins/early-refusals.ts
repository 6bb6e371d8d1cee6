import { METHODS } from 'node:http';
import type { Logger } from 'pino';
import { observeEarlyRefusal } from './request-metrics.ts';

/** A request that was refused before a route was found, so that no hook sees it. */
export interface EarlyRefusal {
  readonly requestId: string;
  /** Undefined where the request was too malformed to tell. */
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly status: number;
  readonly ip: string | undefined;
}

/** Gets each of them. */
export type NoteRefusal = (refusal: EarlyRefusal) => void;

const MAX_PATH = 300;
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/** One line and one count each, like those of other requests (`request-log.ts`). */
export function noteRefusals(log: Logger | undefined): NoteRefusal {
  const requests = log?.child({ module: 'request' });
  return ({ requestId, method, url, status, ip }) => {
    const known = method !== undefined && KNOWN_METHODS.has(method) ? method : null;
    observeEarlyRefusal(known ?? 'unknown', status);
    const path = url?.split('?', 1)[0]!.slice(0, MAX_PATH) ?? null;
    requests?.info({ requestId, method: known, route: null, path, status, ip: ip ?? null }, 'request');
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    /** For listeners that are added to the service. */
    noteRefusal: NoteRefusal;
  }
}
