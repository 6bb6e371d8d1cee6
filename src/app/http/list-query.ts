import { z } from 'zod';

const MOST = 100;
const wholeNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number of at least 1')
  .transform(Number);

/** Pagination (OP-005): `page` is 1-based, `page_size` 20 by default and at most 100. Below 1 is refused. */
export const pageQuery = {
  page: wholeNumber.optional().default(1).describe('1-based page number'),
  page_size: wholeNumber
    .optional()
    .default(20)
    .transform((size) => Math.min(size, MOST))
    .describe(`Items per page; larger values mean ${MOST}`),
};

/** An offset can move the last day of 9999 into a year that ISO 8601 and PostgreSQL write differently. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** RFC 3339, or a calendar day in UTC. Both ends are inclusive; an end day counts to its last millisecond (OP-006). */
function moment(end: boolean) {
  return z
    .string()
    .max(40)
    .transform((text, context) => {
      const full = DAY.test(text) ? `${text}T${end ? '23:59:59.999' : '00:00:00.000'}Z` : text;
      const parsed = z.iso.datetime({ offset: true }).safeParse(full).success ? Date.parse(full) : Number.NaN;
      if (Number.isNaN(parsed)) {
        context.addIssue({ code: 'custom', message: 'must be an RFC 3339 timestamp or a YYYY-MM-DD day' });
        return z.NEVER;
      }
      if (parsed < 0) {
        context.addIssue({ code: 'custom', message: 'must not be before 1970' });
        return z.NEVER;
      }
      if (parsed > LATEST_MS) {
        context.addIssue({ code: 'custom', message: 'must not be after 9999' });
        return z.NEVER;
      }
      return new Date(parsed).toISOString();
    });
}

export const dateRangeQuery = {
  start_date: moment(false).optional().describe('Beginning, inclusive: RFC 3339 timestamp, or a UTC day as YYYY-MM-DD'),
  end_date: moment(true).optional().describe('End, inclusive: RFC 3339 timestamp, or a UTC day as YYYY-MM-DD'),
};

/** For `.refine(...)`: rejects a range that ends before it starts, instead of returning an empty list. */
export const isOrderedRange = ({
  start_date,
  end_date,
}: {
  start_date?: string | undefined;
  end_date?: string | undefined;
}): boolean => !start_date || !end_date || start_date <= end_date;
export const rangeOrderIssue = { path: ['start_date'], message: 'must not be after end_date' };

export const toPage = (query: { page: number; page_size: number }) => ({ page: query.page, pageSize: query.page_size });

/** The four members of a paginated response besides its list. */
export const paginatedView = { total: z.int(), page: z.int(), pageSize: z.int(), totalPages: z.int() };
