import { z } from 'zod';
import { FailureError, tooLarge } from '../../../../platform/kernel/failure.ts';

export const pemField = z.string().min(1);
/** Choice OP-210. */
const MAX_PEM_BYTES = 64 * 1024;

export function refuseLargePem(...fields: readonly string[]): void {
  if (fields.some((field) => Buffer.byteLength(field) > MAX_PEM_BYTES)) throw new FailureError(tooLarge());
}
