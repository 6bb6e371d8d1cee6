import { z } from 'zod';
import { FailureError, invalid } from '../../platform/kernel/failure.ts';
import type { Page } from '../../platform/kernel/query.ts';
import { wholeNumberText, writtenAs } from './query-types.ts';
import { ruleBetween } from '../../platform/kernel/rule-between.ts';

/** Pagination of a list whose pages have at most this many rows, and this many by default. */
export const pageQueryOf = ({ usual, max }: { readonly usual: number; readonly max: number }) => ({
  page: wholeNumberText({ minimum: 1, maximum: 999_999_999 }).optional().describe('1-based page number, by default 1'),
  page_size: wholeNumberText({ minimum: 1, maximum: max, usual }, 'clamped')
    .optional()
    .default(usual)
    .describe(`Items per page; larger values mean ${max}`),
});

/** Pagination (OP-005): `page` is 1-based, `page_size` 20 by default and at most 100. Below 1 is refused, and a page of more than nine digits. */
export const pageQuery = pageQueryOf({ usual: 20, max: 100 });

/** In a query, `+` is a space. */
const LOST_PLUS = / \d{2}:\d{2}$/;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** An offset or a zone can move later days into a year that ISO 8601 and PostgreSQL write differently. */
const END_OF_DATES = Date.parse('9999-12-30T00:00:00.000Z');

/**
 * RFC 3339, or a calendar day. Both ends are inclusive; an end day counts to its last millisecond (OP-006). The query
 * `intervalOf` turns days into moments, in the tenant's time zone.
 */
const moment = writtenAs(z.string().max(40), {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
}).transform((text, context) => {
  const full = DAY.test(text) ? `${text}T00:00:00.000Z` : text;
  const parsed = z.iso.datetime({ offset: true }).safeParse(full).success ? Date.parse(full) : Number.NaN;
  if (Number.isNaN(parsed)) {
    const hint = LOST_PLUS.test(text) ? ': the + of an offset is written as %2B in an address' : '';
    context.addIssue({ code: 'custom', message: `must be an RFC 3339 timestamp or a YYYY-MM-DD day${hint}` });
    return z.NEVER;
  }
  if (parsed < 0 || parsed > END_OF_DATES) {
    context.addIssue({
      code: 'custom',
      message: parsed < 0 ? 'must not be before 1970' : 'must not be after 9999-12-30T00:00:00Z',
    });
    return z.NEVER;
  }
  return full === text ? new Date(parsed).toISOString() : text;
});

/** A moment with an offset, in UTC. Within the years that ISO 8601 and PostgreSQL write alike. */
export const instantField = z.iso
  .datetime({ offset: true, abort: true })
  .refine(
    (text) => Date.parse(text) >= 0 && Date.parse(text) <= END_OF_DATES,
    'must be from 1970 to 9999-12-30T00:00:00Z',
  )
  .transform((text) => new Date(text).toISOString());

const WORDS = "inclusive: RFC 3339 timestamp, or a day in the tenant's time zone as YYYY-MM-DD";
export const dateRangeQuery = {
  start_date: moment.optional().describe(`Beginning, ${WORDS}`),
  end_date: moment.optional().describe(`End, ${WORDS}`),
};
/** A required calendar day, or a moment of it. */
export const dayQuery = moment.describe(
  "A day in the tenant's time zone as YYYY-MM-DD, or an RFC 3339 timestamp in it",
);

interface AskedRange {
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
}

/** A day and a moment are compared once the day is a moment (`intervalOf`). */
const isOrdered = ({ start_date: from, end_date: to }: AskedRange): boolean =>
  !from || !to || from.length !== to.length || from <= to;

/** For `.check(…)`: rejects a range that ends before it starts, instead of returning an empty list. */
export const orderedRange = ruleBetween<AskedRange>(['start_date', 'end_date'], (range) =>
  isOrdered(range) ? undefined : 'must not be after end_date',
);

/** The page that a query names. `cursor` is what `keysetQuery` read. */
export function toPage(query: {
  page?: number | undefined;
  page_size: number;
  cursor?: { readonly page: number; readonly after: readonly string[] } | undefined;
}): Page {
  const { page, page_size: pageSize, cursor: mark } = query;
  if (!mark) return { page: page ?? 1, pageSize };
  if (page !== undefined) throw new FailureError(invalid('page', 'cannot be combined with cursor'));
  return { page: mark.page, pageSize, after: mark.after };
}

/** The four members of a paginated response besides its list. */
export const paginatedView = { total: z.int(), page: z.int(), pageSize: z.int(), totalPages: z.int() };
