import type { FastifyRequest } from 'fastify';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import { refuseBrokenText } from './validation.ts';
import { wholeFile } from './whole-file.ts';

export interface UploadedFile {
  readonly bytes: Buffer;
  /** The media type that the client declared; `text/plain` by default (RFC 7578 §4.4). */
  readonly declaredType: string;
}

export interface MultipartForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: UploadedFile;
}

/**
 * Reads the text fields of a multipart body and the file in the part `fileName`. Throws 400 if that part is missing, a
 * field is repeated or the body breaks off, 413 above `mostBytes`, 415 for another media type.
 */
export async function multipartForm(
  request: FastifyRequest,
  fileName: string,
  mostBytes: number,
): Promise<MultipartForm> {
  if (request.headers['content-type'] === undefined) throw new FailureError(invalid(fileName, 'is required'));
  const fields = new Map<string, string>();
  let file: UploadedFile | undefined;
  try {
    for await (const part of request.parts({ limits: { fileSize: mostBytes } })) {
      if (part.type === 'file') {
        const bytes = await wholeFile(part);
        if (part.fieldname === fileName) file = { bytes, declaredType: part.mimetype.toLowerCase() };
      } else {
        if (fields.has(part.fieldname)) throw new FailureError(invalid(part.fieldname, 'comes twice'));
        fields.set(part.fieldname, String(part.value));
      }
    }
  } catch (error) {
    // Fastify's errors have a code. The parser's errors do not: they mean that the body is malformed.
    if (error instanceof FailureError || String((error as { code?: unknown }).code).startsWith('FST_')) throw error;
    throw new FailureError(invalid('body', 'is not a readable multipart body'));
  }
  if (!file) throw new FailureError(invalid(fileName, 'is required'));
  const texts = Object.fromEntries(fields);
  refuseBrokenText(texts);
  return { fields: texts, file };
}
