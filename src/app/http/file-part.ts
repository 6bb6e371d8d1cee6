import type { FastifyRequest } from 'fastify';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';

/**
 * The file in the part of this name of a multipart body; other parts are passed over. Throws 400 where there is none or
 * the body breaks off, 413 above `mostBytes`, 415 for a body of another kind.
 */
export async function filePart(request: FastifyRequest, name: string, mostBytes: number): Promise<Buffer> {
  if (request.headers['content-type'] === undefined) throw new FailureError(invalid(name, 'is required'));
  try {
    for await (const part of request.parts({ limits: { fileSize: mostBytes } })) {
      if (part.type !== 'file') continue;
      const bytes = await part.toBuffer();
      if (part.fieldname === name) return bytes;
    }
  } catch (error) {
    // What the framework refuses has a code; the parser's own complaints are about the bytes that came.
    if (String((error as { code?: unknown }).code).startsWith('FST_')) throw error;
    throw new FailureError(invalid('body', 'is not a readable multipart body'));
  }
  throw new FailureError(invalid(name, 'is required'));
}
