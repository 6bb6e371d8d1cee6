/** An exchange as it is in the file of examples. */
export interface RecordedExample {
  readonly status: number;
  /** Values of parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly response?: unknown;
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
