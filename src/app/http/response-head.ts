import type { OutgoingHttpHeader } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * What a handler may say of its response besides the body. It returns the body, and cannot send: the route sends it after
 * the log that it was computed from has been vouched for (OP-590).
 */
export interface ResponseHead extends Pick<
  FastifyReply,
  'statusCode' | 'getHeader' | 'hasHeader' | 'removeHeader' | 'server'
> {
  /** For listeners that wait for the end of the response. */
  readonly raw: Pick<FastifyReply['raw'], 'destroyed' | 'closed' | 'once'>;
  status(code: number): ResponseHead;
  type(mediaType: string): ResponseHead;
  header(name: string, value: OutgoingHttpHeader): ResponseHead;
  headers(values: Readonly<Record<string, OutgoingHttpHeader | undefined>>): ResponseHead;
}
