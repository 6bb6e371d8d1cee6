import type { Row } from '../measure.ts';

/** Provisioning: SCIM, then directories. */
export async function measure(): Promise<Row[]> {
  return [...(await (await import('./scim.ts')).measure()), ...(await (await import('./directory.ts')).measure())];
}
