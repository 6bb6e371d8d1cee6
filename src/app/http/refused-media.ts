import { errorCodes, type FastifyRequest } from 'fastify';
import type { AnyRoute } from './route.ts';

/**
 * Rejects forms where JSON is expected (RFC 9110 §15.5.16), because any web page can make a browser send a form, and
 * text in an encoding other than UTF-8, which would be stored as something else.
 */
export function refuseOtherMedia({ headers }: FastifyRequest, { body, consumes = 'json' }: AnyRoute<never>): void {
  const media = headers['content-type'] ?? '';
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  const isCoded = body !== undefined && !['', 'identity'].includes(coding);
  const isPlainForm = /^application\/x-www-form-urlencoded/i.test(media);
  const isMultipart = /^multipart\//i.test(media);
  if (isCoded) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(coding);
  const isOther = {
    json: isPlainForm || isMultipart,
    form: !isPlainForm,
    'json-or-form': isMultipart,
    multipart: false,
  }[consumes];
  if (hasOtherCharset(media) || (body && !isEmpty && isOther))
    throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(media);
}

function hasOtherCharset(media: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(media)?.[1];
  return charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset);
}
