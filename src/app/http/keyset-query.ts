import { z } from 'zod';
import type { KeysetOrder, OrderColumn } from '../../../queries/keyset.ts';
import { isUuid } from '../../platform/kernel/ids.ts';
import type { KeysetPaginated } from '../../platform/kernel/query.ts';
import { pageQueryOf, paginatedView } from './list-query.ts';

/**
 * Cursors of lists (OP-370): `nextCursor` of a page names its last row, by the values that order the list. They are
 * readable, and not signed: they only choose where a page of the caller's own tenant begins.
 */
const MAX_LENGTH = 1_000;

const fits: Readonly<Record<OrderColumn['type'], (value: string) => boolean>> = {
  timestamptz: (value) => z.iso.datetime().safeParse(value).success && !Number.isNaN(Date.parse(value)),
  uuid: isUuid,
  integer: (value) => /^-?\d{1,9}$/.test(value),
  bigint: (value) => /^-?\d{1,18}$/.test(value),
  text: (value) => value.length <= 500 && !value.includes('\0') && value.isWellFormed(),
};

interface Mark {
  /** The number of the page that begins after the row. */
  readonly page: number;
  readonly after: readonly string[];
}

const written = z.tuple([z.string(), z.int().min(1).max(999_999_999)]).rest(z.string());

function read(text: string, { list, columns }: Pick<KeysetOrder, 'list' | 'columns'>): Mark | undefined {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  const parsed = written.safeParse(content);
  if (!parsed.success) return undefined;
  const [of, page, ...after] = parsed.data;
  const isMark =
    of === list && after.length === columns.length && columns.every(({ type }, n) => fits[type](after[n]!));
  return isMark ? { page, after } : undefined;
}

/** Pagination of a list in this order, by `page` or by `cursor`. */
export const keysetQuery = (order: Pick<KeysetOrder, 'list' | 'columns'>, size = { usual: 20, max: 100 }) => ({
  ...pageQueryOf(size),
  cursor: z
    .string()
    .max(MAX_LENGTH)
    .transform((text, context) => {
      const mark = read(text, order);
      if (mark) return mark;
      context.addIssue({
        code: 'custom',
        message: 'must be the nextCursor of a page of this list, with the same filters',
      });
      return z.NEVER;
    })
    .optional()
    .describe('`nextCursor` of the page before; in place of `page`, with the same filters'),
});

export const keysetView = { ...paginatedView, totalIsLowerBound: z.boolean(), nextCursor: z.string().nullable() };

/** The response of a list: `nextCursor` in place of the values. */
export function withNextMark<List extends KeysetPaginated>(
  { list }: Pick<KeysetOrder, 'list'>,
  answer: List,
): Omit<List, 'next'> & { nextCursor: string | null } {
  const { next, ...others } = answer;
  const content = next && Buffer.from(JSON.stringify([list, answer.page + 1, ...next]));
  return { ...others, nextCursor: content ? content.toString('base64url') : null };
}
