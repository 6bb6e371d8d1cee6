import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { missingFile, readForm, type FileOfForm } from './form-parts.ts';
import { readInput, refuseFields } from './wrong-fields.ts';
import { wholeFile } from './whole-file.ts';

export interface UploadedFile {
  readonly bytes: Buffer;
  /** The media type that the client declared; `text/plain` by default (RFC 7578 §4.4). */
  readonly declaredType: string;
}

export interface MultipartForm<Fields> {
  readonly fields: Fields;
  readonly file: UploadedFile;
}

interface FileToJudge extends FileOfForm {
  /** What is wrong with the file, which is named beside wrong fields. */
  judge?(file: UploadedFile): string | undefined;
}

/** Reads the text fields of a multipart body, by the schema, and the file. Throws as `readForm` does, and 400 for wrong fields. */
export async function multipartForm<Schema extends z.ZodType>(
  request: FastifyRequest,
  schema: Schema,
  wanted: FileToJudge,
): Promise<MultipartForm<z.output<Schema>>> {
  let file: UploadedFile | undefined;
  const { texts, wrong: ofForm } = await readForm(request, wanted, async (part) => {
    file = { bytes: await wholeFile(part), declaredType: part.mimetype.toLowerCase() };
  });
  const { data, wrong } = readInput('body', schema, texts);
  const unfit = file && wanted.judge?.(file);
  const ofFile = unfit === undefined ? [] : [{ field: wanted.part, message: unfit }];
  refuseFields([...missingFile(file, wanted, ofForm), ...ofFile, ...ofForm, ...wrong]);
  return { fields: data!, file: file! };
}
