import type { MultipartFile } from '@fastify/multipart';
import { FailureError } from '../../platform/kernel/failure.ts';
import { fileTooLarge } from './form-parts.ts';

/**
 * The file of a part. Throws 413 above the limit that the parts were read with: the library notices that only when more of
 * the file arrives, which never happens if a chunk ends exactly at the limit.
 */
export async function wholeFile(part: MultipartFile): Promise<Buffer> {
  const bytes = await part.toBuffer();
  if (part.file.truncated) throw new FailureError(fileTooLarge(part.fieldname));
  return bytes;
}
