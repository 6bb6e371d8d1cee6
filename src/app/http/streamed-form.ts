import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { FailureError } from '../../platform/kernel/failure.ts';
import { fileTooLarge, missingFile, readForm, type FileOfForm } from './form-parts.ts';
import { readInput, refuseFields } from './wrong-fields.ts';

export interface StreamedForm<Fields, Taken> {
  readonly fields: Fields;
  readonly taken: Taken;
  /** As the client sent it: a hint at best, never a path. */
  readonly fileName: string;
}

interface FileToTake<Taken> extends FileOfForm {
  /** Reads the file to its end. */
  take(stream: Readable): Promise<Taken>;
}

/**
 * Reads a multipart body whose file is too large for memory; fields may stand before and after it. Throws as
 * `multipartForm` does, possibly after `take` has taken the file: the caller undoes what it did.
 */
export async function streamedForm<Schema extends z.ZodType, Taken>(
  request: FastifyRequest,
  schema: Schema,
  wanted: FileToTake<Taken>,
): Promise<StreamedForm<z.output<Schema>, Taken>> {
  let file: { readonly taken: Taken; readonly fileName: string } | undefined;
  const { texts, wrong: ofForm } = await readForm(request, wanted, async (part) => {
    file = { taken: await wanted.take(part.file), fileName: part.filename };
    if (part.file.truncated) throw new FailureError(fileTooLarge(wanted.part));
  });
  const { data, wrong } = readInput('body', schema, texts);
  refuseFields([...missingFile(file, wanted, ofForm), ...ofForm, ...wrong]);
  return { fields: data!, ...file! };
}
