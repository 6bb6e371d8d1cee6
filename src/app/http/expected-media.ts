import type { FastifyRequest } from 'fastify';
import { acceptedMediaOf } from './openapi/operation.ts';
import type { Refusal } from './refusal.ts';

/** A refused media type, with the one that the route accepts (RFC 9110 §15.5.16). */
export function withExpectedMedia(refusal: Refusal, { headers, routeOptions }: FastifyRequest): Refusal {
  const declared = routeOptions.config?.declared;
  if (refusal.code !== 'unsupported_media_type' || !declared) return refusal;
  if (!declared.body)
    return {
      ...refusal,
      fields: [{ field: 'Content-Type', message: 'must be absent, or application/json in UTF-8: no body is needed' }],
    };
  if (!['', 'identity'].includes(headers['content-encoding']?.trim().toLowerCase() ?? ''))
    return {
      ...refusal,
      fields: [{ field: 'Content-Encoding', message: 'must be identity: send the body uncompressed' }],
    };
  const { consumes = 'json' } = declared;
  // Of another media type than the right one, the encoding of its parts is not the point.
  const isPlain = consumes === 'multipart' && !/^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
  const encoding = isPlain ? '' : ', in UTF-8';
  return {
    ...refusal,
    fields: [{ field: 'Content-Type', message: `must be ${acceptedMediaOf(declared).join(' or ')}${encoding}` }],
  };
}
