import type { FastifyRequest } from 'fastify';
import { missingFile, readForm } from './form-parts.ts';
import type { AnyRoute } from './route.ts';
import { wholeFile } from './whole-file.ts';
import { refuseFields } from './wrong-fields.ts';

/** Reads the file in the part `name` of a multipart body and ignores its fields. Throws as `readForm` does, and 400 without it. */
export async function filePart(request: FastifyRequest, name: string, mostBytes: number): Promise<Buffer> {
  let bytes: Buffer | undefined;
  const wanted = { part: name, mostBytes };
  const { wrong } = await readForm(request, wanted, async (part) => {
    bytes = await wholeFile(part);
  });
  refuseFields([...missingFile(bytes, wanted, wrong), ...wrong]);
  return bytes!;
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
