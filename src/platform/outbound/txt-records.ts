import { Resolver } from 'node:dns/promises';

/** What is looked up, in one string for each record. Throws `TxtUnavailable` where no name server answered. */
export type TxtRecords = (name: string) => Promise<readonly string[]>;

export class TxtUnavailable extends Error {}

const PATIENCE_MS = 2_000;
const TRIES = 2;
/** There is no such name, or it has no such record. */
const NOTHING_THERE: readonly string[] = ['ENOTFOUND', 'ENODATA'];

/**
 * Asks the name servers of the machine, or these (`address` or `address:port`). A name server is named by whoever operates the
 * installation, never by a tenant: it may have a private address.
 */
export function txtRecords(servers: readonly string[]): TxtRecords {
  return async (name) => {
    const resolver = new Resolver({ timeout: PATIENCE_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (NOTHING_THERE.includes(code)) return [];
      throw new TxtUnavailable(`no name server answered (${code})`, { cause: error });
    }
  };
}
