import { z } from 'zod';

const MOST = 100;
const wholeNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number of at least 1')
  .transform(Number);

/** `page` and `page_size`: 1-based, 20 by default, clamped to 100, refused below 1 (interface "Pagination", choice OP-005). */
export const pageQuery = {
  page: wholeNumber.optional().default(1),
  page_size: wholeNumber
    .optional()
    .default(20)
    .transform((size) => Math.min(size, MOST)),
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** RFC 3339, or a calendar day in UTC; both ends inclusive, a day as end meaning all of it (choice OP-006). */
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
      return new Date(parsed).toISOString();
    });
}

export const dateRangeQuery = { start_date: moment(false).optional(), end_date: moment(true).optional() };

/** For `.refine(...)`: a range that ends before it starts is a mistake, not an empty list. */
export const isOrderedRange = ({
  start_date,
  end_date,
}: {
  start_date?: string | undefined;
  end_date?: string | undefined;
}): boolean => !start_date || !end_date || start_date <= end_date;
export const rangeOrderIssue = { path: ['start_date'], message: 'must not be after end_date' };

export const toPage = (query: { page: number; page_size: number }) => ({ page: query.page, pageSize: query.page_size });

/** The four members that a fully paginated answer carries besides its list. */
export const paginatedView = { total: z.int(), page: z.int(), pageSize: z.int(), totalPages: z.int() };
