import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fieldsOfIssues } from '../../../src/app/http/wrong-fields.ts';

const messageOf = (schema: z.ZodType, value: unknown) =>
  fieldsOfIssues('body', schema.safeParse(value).error!)[0]!.message;

describe('what is said of a length', () => {
  it.each([
    ['must not be empty', z.string().min(1), ''],
    ['must not be empty', z.array(z.string()).min(1), []],
    ['must be at least 2 characters long', z.string().min(2), 'x'],
    ['must be at least 2 items long', z.array(z.string()).min(2), ['x']],
    ['must be at most 1 character long', z.string().max(1), 'xx'],
    ['must be at most 1 item long', z.array(z.string()).max(1), ['x', 'x']],
    ['must be at most 3 characters long', z.string().max(3), 'xxxx'],
    ['must be at least 1', z.int().min(1), 0],
    ['must be at most 1', z.int().max(1), 2],
  ])('%s', (message, schema, value) => {
    expect(messageOf(schema, value)).toBe(message);
  });
});
