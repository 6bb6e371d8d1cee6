import type { FastifyRequest } from 'fastify';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import type { AnyRoute } from './route.ts';
import { wholeFile } from './whole-file.ts';

/**
 * Reads the file in the part `name` of a multipart body and ignores other parts. Throws 400 if it is missing or the
 * body breaks off, 413 above `mostBytes`, 415 for another media type.
 */
export async function filePart(request: FastifyRequest, name: string, mostBytes: number): Promise<Buffer> {
  if (request.headers['content-type'] === undefined) throw new FailureError(invalid(name, 'is required'));
  try {
    for await (const part of request.parts({ limits: { fileSize: mostBytes } })) {
      if (part.type !== 'file') continue;
      const bytes = await wholeFile(part);
      if (part.fieldname === name) return bytes;
    }
  } catch (error) {
    // Fastify's errors have a code. The parser's errors do not: they mean that the body is malformed.
    if (error instanceof FailureError || String((error as { code?: unknown }).code).startsWith('FST_')) throw error;
    throw new FailureError(invalid('body', 'is not a readable multipart body'));
  }
  throw new FailureError(invalid(name, 'is required'));
}

declare module 'fastify' {
  interface FastifyRequest {
    uploadedFile: Buffer | undefined;
  }
}

/** Reads the file once: the body is a stream, and its content is also part of the idempotency key's request digest. */
export async function uploadedFileOf(
  request: FastifyRequest,
  { part, mostBytes }: NonNullable<AnyRoute<never>['file']>,
): Promise<Buffer> {
  return (request.uploadedFile ??= await filePart(request, part, mostBytes));
}
