import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './generated/api.ts';

export type Alert = components['schemas']['Alert'];
export type Policy = components['schemas']['Policy'];
export type ApiError = components['schemas']['Error'];
export type Castellan = Client<paths>;

/** A client for one administrator. */
export const castellan = (baseUrl: string, accessToken: string): Castellan =>
  createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${accessToken}` } });

/** A refusal of the service. `code` is stable: branch on it, not on the text. */
export class Refused extends Error {
  readonly code: string;
  readonly status: number;

  constructor({ error, code, requestId }: ApiError, { status }: Response) {
    super(`${error} (${code}, request ${requestId})`);
    this.code = code;
    this.status = status;
  }
}

/** The result of a request, or an exception. */
export function orThrow<Data>(result: { data?: Data; error?: ApiError; response: Response }): Data {
  if (result.error) throw new Refused(result.error, result.response);
  return result.data as Data;
}
