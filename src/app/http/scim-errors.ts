import { z } from 'zod';
import type { ErrorCode } from '../../platform/kernel/error-codes.ts';
import { withMedia, type Refusal } from './refusal.ts';

export const SCIM_MEDIA = 'application/scim+json; charset=utf-8';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

export const scimErrorView = z
  .object({
    schemas: z.array(z.string()),
    status: z.string(),
    scimType: z.string().optional(),
    detail: z.string(),
    error: z.string(),
  })
  .meta({ title: 'ScimError' });

/** RFC 7644 §3.12, RFC 9865 §2. A code without an entry has no `scimType`. */
const TYPES: Partial<Record<ErrorCode, string>> = {
  scim_invalid_filter: 'invalidFilter',
  scim_invalid_path: 'invalidPath',
  scim_invalid_syntax: 'invalidSyntax',
  scim_invalid_value: 'invalidValue',
  scim_invalid_cursor: 'invalidCursor',
  scim_no_target: 'noTarget',
  scim_too_many: 'tooMany',
  scim_mutability: 'mutability',
  malformed_json: 'invalidSyntax',
  malformed_request: 'invalidSyntax',
  validation_failed: 'invalidValue',
  already_exists: 'uniqueness',
  owned_by_source: 'uniqueness',
};

const fieldsOf = ({ code, fields }: Refusal): string =>
  code === 'already_exists' && fields.length > 0 ? `: ${fields.map(({ field }) => field).join(', ')}` : '';

/** A parameter is judged before its route sees it, also a filter: its length, and whether it is text. */
const isAboutFilter = ({ code, fields }: Refusal): boolean =>
  code === 'validation_failed' && fields.some(({ field }) => field === 'filter');

/** OP-221: the error of SCIM, with the `error` of every other route. */
export const scimRefusal = (refused: Refusal): object => {
  const { status, code } = refused;
  const scimType = isAboutFilter(refused) ? TYPES.scim_invalid_filter : TYPES[code];
  const detail = withMedia(refused) + fieldsOf(refused);
  return { schemas: [ERROR], status: String(status), ...(scimType ? { scimType } : {}), detail, error: detail };
};
