import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { FailureError, invalid, tooLargeIn, type Failure, type FieldError } from '../../platform/kernel/failure.ts';
import { GIVEN_ONCE } from './wrong-fields.ts';

export interface FileOfForm {
  /** The name of the part that is the file. */
  readonly part: string;
  readonly mostBytes: number;
}

export interface ReadForm {
  readonly texts: Readonly<Record<string, string>>;
  /** Fields that come twice, and a second file: for the caller to refuse, with whatever else is wrong. */
  readonly wrong: readonly FieldError[];
}

/**
 * Reads a multipart body to its end: `takeFile` reads the file, and a second one is refused. Returns the text fields. Throws 400
 * for a third file or if the body breaks off, 413 above `mostBytes`, 415 for another media type. What `takeFile` has
 * taken by then is for the caller to undo.
 */
export async function readForm(
  request: FastifyRequest,
  { part: name, mostBytes }: FileOfForm,
  takeFile: (part: MultipartFile) => Promise<void>,
): Promise<ReadForm> {
  if (request.headers['content-type'] === undefined) throw new FailureError(invalid(name, 'is required'));
  const fields = new Map<string, string>();
  const wrong = new Map<string, string>();
  try {
    let files = 0;
    // One file more than may come, so that the rest of the form is read and judged, too.
    for await (const part of request.parts({ limits: { fileSize: mostBytes, files: 2 } })) {
      if (part.type === 'field') {
        const text = String(part.value);
        if (text.includes(REPLACED)) wrong.set(part.fieldname, 'must be UTF-8 text');
        if (fields.has(part.fieldname)) wrong.set(part.fieldname, GIVEN_ONCE);
        fields.set(part.fieldname, text);
      } else if ((files += 1) === 1 && part.fieldname === name) await takeFile(part);
      else {
        // One under another name is not the wanted one, which is then missing.
        if (files > 1) wrong.set(name, ONLY_FILE);
        part.file.resume();
      }
    }
  } catch (error) {
    throw refusalOf(error, name);
  }
  return {
    texts: Object.fromEntries(fields),
    wrong: [...wrong].map(([field, message]) => ({ field, message })),
  };
}

/** What is wrong if the file has not come. */
export const missingFile = (
  file: unknown,
  { part: field }: FileOfForm,
  wrong: readonly FieldError[],
): readonly FieldError[] =>
  file !== undefined || wrong.some((one) => one.field === field) ? [] : [{ field, message: 'is required' }];

/** What the parser puts in place of bytes that are no UTF-8. */
const REPLACED = '\ufffd';

/** The limit of a route is in its description. */
export const fileTooLarge = (name: string): Failure => tooLargeIn([name], 'is too large');

const ONLY_FILE = 'must be the only file, and come once';

/** Fastify's errors have a code of its own. Those of the parser have none: the body is malformed, or broke off. */
function refusalOf(error: unknown, name: string): unknown {
  const { code, syscall, name: kind } = error as { code?: unknown; syscall?: unknown; name?: unknown };
  if (code === 'FST_FILES_LIMIT') return new FailureError(invalid(name, ONLY_FILE));
  if (code === 'FST_REQ_FILE_TOO_LARGE') return new FailureError(fileTooLarge(name));
  const isOurs = error instanceof FailureError || String(code).startsWith('FST_') || kind === 'ObjectStoreUnavailable';
  return isOurs || syscall !== undefined
    ? error
    : new FailureError(invalid('body', 'is not a readable multipart body'));
}
