import type { Claim } from '../../src/platform/kernel/command.ts';
import { INSTALLATION } from '../../src/platform/kernel/ids.ts';
import type { WithClaimHolders } from '../ports.ts';

const FIRST_PAGE = 16;
const LARGEST_PAGE = 1_024;

/**
 * The base, or the base with the lowest number that makes it free. Numbers are looked up in growing pages; the claim
 * decides races.
 */
export async function freeSlug(
  base: string,
  claimOf: (slug: string) => Claim,
  { claimHolders }: WithClaimHolders,
): Promise<string> {
  let slugs = [base];
  for (let next = 2, size = FIRST_PAGE; ; size = Math.min(4 * size, LARGEST_PAGE)) {
    const holders = await claimHolders(INSTALLATION, slugs.map(claimOf));
    const free = slugs.find((_, at) => holders[at] === undefined);
    if (free !== undefined) return free;
    slugs = numbered(base, next, size);
    next += size;
  }
}

const numbered = (base: string, from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${base}-${from + at}`);
