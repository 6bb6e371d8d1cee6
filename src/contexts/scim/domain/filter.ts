import { FailureError, invalid } from '../../../platform/kernel/failure.ts';

/** RFC 7644 §3.4.2.2. */
export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof comparisons)[number];

/** `urn:…:attribute.subAttribute`, not yet looked up in a schema. */
export interface AttributePath {
  readonly urn: string | undefined;
  readonly attribute: string;
  readonly sub: string | undefined;
}

export type Filter =
  | { readonly op: Comparison; readonly path: AttributePath; readonly value: string | number | boolean | null }
  | { readonly op: 'pr'; readonly path: AttributePath }
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  /** `emails[type eq "work"]`: one value fulfils the whole condition. */
  | { readonly op: 'some'; readonly path: AttributePath; readonly where: Filter };

/** Longest expression, and most conditions in it. Identity providers send one or two. */
const MAX_LENGTH = 8_000;
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 20;

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.:-]))|([A-Za-z$][\w$:.-]*)|(\.[A-Za-z$][\w$-]*))/y;

interface Token {
  readonly kind: 'text' | 'bracket' | 'number' | 'word' | 'sub' | 'end';
  readonly text: string;
}
const END: Token = { kind: 'end', text: '' };
const KINDS = ['text', 'bracket', 'number', 'word', 'sub'] as const;

/** A malformed expression; the caller says whether it is a filter or a path. */
export class MalformedExpression extends Error {}

export function tokensOf(expression: string): Token[] {
  if (expression.length > MAX_LENGTH) throw new MalformedExpression(`is longer than ${MAX_LENGTH} characters`);
  const tokens: Token[] = [];
  const trimmed = expression.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(trimmed);
    if (!found) throw new MalformedExpression(`is malformed at character ${at + 1}`);
    const kind = KINDS.find((_, group) => found[group + 1] !== undefined)!;
    tokens.push({ kind, text: found[KINDS.indexOf(kind) + 1]! });
  }
  return tokens;
}

export class ExpressionReader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #conditions = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get next(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  take(text?: string): Token {
    const token = this.next;
    if (text !== undefined && token.text !== text)
      throw new MalformedExpression(`has ${token.text === '' ? 'an end' : 'another token'} where ${text} is expected`);
    this.#at += 1;
    return token;
  }

  end(): void {
    if (this.next.kind !== 'end') throw new MalformedExpression('has more after its end');
  }

  or(depth = 0): Filter {
    return this.#joined('or', () => this.#and(depth), depth);
  }

  #and(depth: number): Filter {
    return this.#joined('and', () => this.#term(depth), depth);
  }

  #joined(op: 'and' | 'or', part: () => Filter, depth: number): Filter {
    if (depth > MAX_DEPTH) throw new MalformedExpression(`is nested more than ${MAX_DEPTH} deep`);
    const filters = [part()];
    while (this.#isWord(op)) {
      this.take();
      filters.push(part());
    }
    return filters.length === 1 ? filters[0]! : { op, filters };
  }

  #term(depth: number): Filter {
    if (this.next.text === '(') {
      this.take();
      const inner = this.or(depth + 1);
      this.take(')');
      return inner;
    }
    if (this.#isWord('not') && this.#tokens[this.#at + 1]?.text === '(') {
      this.take();
      this.take('(');
      const filter = this.or(depth + 1);
      this.take(')');
      return { op: 'not', filter };
    }
    return this.#condition(depth);
  }

  #condition(depth: number): Filter {
    if ((this.#conditions += 1) > MAX_CONDITIONS)
      throw new MalformedExpression(`has more than ${MAX_CONDITIONS} conditions`);
    const path = this.path();
    if (this.next.text === '[') return this.#some(path, depth);
    return this.#compared(path);
  }

  #compared(path: AttributePath): Filter {
    const op = this.take().text.toLowerCase();
    if (op === 'pr') return { op, path };
    const comparison = comparisons.find((each) => each === op);
    if (!comparison) throw new MalformedExpression('has an unknown operator');
    return { op: comparison, path, value: this.#value() };
  }

  /** `emails[type eq "work"].value eq "x"` means one value that fulfils both. */
  #some(path: AttributePath, depth: number): Filter {
    this.take('[');
    const where = this.or(depth + 1);
    this.take(']');
    if (this.next.kind !== 'sub') return { op: 'some', path, where };
    const attribute = this.take().text.slice(1);
    const also = this.#compared({ urn: undefined, attribute, sub: undefined });
    return { op: 'some', path, where: { op: 'and', filters: [where, also] } };
  }

  path(): AttributePath {
    const { kind, text } = this.take();
    if (kind !== 'word') throw new MalformedExpression('has no attribute where one is expected');
    return attributePath(text);
  }

  #value(): string | number | boolean | null {
    const { kind, text } = this.take();
    const word = text.toLowerCase();
    if (kind === 'number') return Number(text);
    if (kind === 'word' && (word === 'true' || word === 'false')) return word === 'true';
    if (kind === 'word' && word === 'null') return null;
    if (kind !== 'text') throw new MalformedExpression('has no value where one is expected');
    const value = parsedText(text);
    // An escape can name what no text has, and the database has none to compare with.
    if (value.includes('\0') || !value.isWellFormed())
      throw new MalformedExpression('has characters that are not text');
    return value;
  }

  #isWord(word: string): boolean {
    return this.next.kind === 'word' && this.next.text.toLowerCase() === word;
  }
}

function parsedText(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new MalformedExpression('has a text that is not valid JSON');
  }
}

/** A URN ends with its last colon, and may hold dots (`2.0`). */
export function attributePath(text: string): AttributePath {
  const colon = text.lastIndexOf(':');
  const [attribute = '', sub, ...rest] = text.slice(colon + 1).split('.');
  if (attribute === '' || sub === '' || rest.length > 0) throw new MalformedExpression('has a malformed attribute');
  return { urn: colon < 0 ? undefined : text.slice(0, colon), attribute, sub };
}

export function parseFilter(expression: string): Filter {
  try {
    const reader = new ExpressionReader(tokensOf(expression));
    const filter = reader.or();
    reader.end();
    return filter;
  } catch (error) {
    if (error instanceof MalformedExpression)
      throw new FailureError(invalid('filter', error.message, 'scim_invalid_filter'));
    throw error;
  }
}
