import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { FailureError, invalid, tooLarge } from '../../platform/kernel/failure.ts';
import { refuseBrokenText } from './validation.ts';

export interface StreamedForm<Taken> {
  readonly fields: Readonly<Record<string, string>>;
  readonly taken: Taken;
  /** As the client sent it: a hint at best, never a path. */
  readonly fileName: string;
}

interface FileToTake<Taken> {
  readonly part: string;
  readonly mostBytes: number;
  /** Reads the file to its end. */
  take(stream: Readable): Promise<Taken>;
}

/**
 * Reads a multipart body whose file is too large for memory; fields may stand before and after it. Throws as
 * `multipartForm` does, possibly after `take` has taken the file: the caller undoes what it did.
 */
export async function streamedForm<Taken>(
  request: FastifyRequest,
  { part: name, mostBytes, take }: FileToTake<Taken>,
): Promise<StreamedForm<Taken>> {
  if (request.headers['content-type'] === undefined) throw new FailureError(invalid(name, 'is required'));
  const fields = new Map<string, string>();
  let file: { readonly taken: Taken; readonly fileName: string } | undefined;
  try {
    for await (const part of request.parts({ limits: { fileSize: mostBytes } })) {
      if (part.type === 'field') {
        if (fields.has(part.fieldname)) throw new FailureError(invalid(part.fieldname, 'comes twice'));
        fields.set(part.fieldname, String(part.value));
      } else if (part.fieldname === name) {
        file = { taken: await take(part.file), fileName: part.filename };
        if (part.file.truncated) throw new FailureError(tooLarge());
      } else part.file.resume();
    }
  } catch (error) {
    throw refusalOf(error);
  }
  if (!file) throw new FailureError(invalid(name, 'is required'));
  const texts = Object.fromEntries(fields);
  refuseBrokenText(texts);
  return { fields: texts, ...file };
}

/** Fastify's errors have a code of its own. Those of the parser have none: the body is malformed, or broke off. */
function refusalOf(error: unknown): unknown {
  const { code, syscall, name } = error as { code?: unknown; syscall?: unknown; name?: unknown };
  const isOurs = error instanceof FailureError || String(code).startsWith('FST_') || name === 'ObjectStoreUnavailable';
  return isOurs || syscall !== undefined
    ? error
    : new FailureError(invalid('body', 'is not a readable multipart body'));
}
