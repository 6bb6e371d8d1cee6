import { Resolver } from 'node:dns/promises';

/** Returns the TXT records of a name, one string per record. Throws `TxtUnavailable` if no name server responded. */
export type TxtRecords = (name: string) => Promise<readonly string[]>;

export class TxtUnavailable extends Error {}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** The name does not exist, or has no such record. */
const NOTHING_THERE: readonly string[] = ['ENOTFOUND', 'ENODATA'];

/**
 * Queries the machine's name servers, or the given ones (`address` or `address:port`). Only the operator of the
 * installation configures them, never a tenant, so they may have private addresses.
 */
export function txtRecords(servers: readonly string[]): TxtRecords {
  return async (name) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (NOTHING_THERE.includes(code)) return [];
      throw new TxtUnavailable(`no name server responded (${code})`, { cause: error });
    }
  };
}
